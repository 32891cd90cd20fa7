const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** A size as people read it: three digits at most, in binary units. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // 1023.95 KiB would round to 1024 KiB.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const text = unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1);
  return `${text} ${units[unit] ?? ''}`;
}
