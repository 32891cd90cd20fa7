/** A FLOAT of 32 bits. It is shown by the digits that 32 bits have, where a FLOAT of 64 bits has twice as many. */
export class Float32 {
  /** The same number in 64 bits. */
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  /** The shortest text that is this number again in 32 bits, e.g. `0.1`. */
  toString(): string {
    const { value } = this;
    if (!Number.isFinite(value)) return String(value);
    // Below the smallest normal number there are fewer digits.
    const first = Math.abs(value) < 2 ** -126 ? 1 : 6;
    for (let digits = first; digits < 9; digits += 1) {
      const rounded = Number(value.toPrecision(digits));
      if (Math.fround(rounded) === value) return String(rounded);
    }
    return String(Number(value.toPrecision(9)));
  }
}
