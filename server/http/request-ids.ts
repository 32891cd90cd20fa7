/** Request ids of one thread: 16 hexadecimal digits, the first half the thread's own random ones. */
export function requestIds(random: (size: number) => Buffer): () => string {
  const prefix = random(4).toString('hex').toUpperCase();
  let count = random(4).readUInt32BE();
  return () => {
    count = (count + 1) >>> 0;
    return prefix + count.toString(16).toUpperCase().padStart(8, '0');
  };
}
