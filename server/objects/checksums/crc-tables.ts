/**
 * Tables of a reflected CRC for slicing: table k gives what a byte contributes when k more bytes follow it in the same step.
 */
export function crcTables(polynomial: bigint, count: number): bigint[][] {
  const first = Array.from({ length: 256 }, (_, byte) => {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
    return crc;
  });
  const tables = [first];
  while (tables.length < count) {
    const last = tables[tables.length - 1] ?? first;
    tables.push(last.map((crc) => (crc >> 8n) ^ (first[Number(crc & 255n)] ?? 0n)));
  }
  return tables;
}
