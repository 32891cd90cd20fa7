const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * The value of a Kubernetes quantity (`1.5Gi`, `100M`, `1e9`); undefined for anything else.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function quantityValue(quantity: string): number | undefined {
  const match = /^([+-]?[0-9]*\.?[0-9]+|[0-9]+\.)((?:[eE][+-]?[0-9]+)|[A-Za-z]{0,2})$/.exec(quantity);
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  if (/^[eE][+-]?[0-9]/.test(unit)) return Number(digits + unit);
  const factor = units[unit];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** The larger of two quantities; the first where one cannot be read. */
export function largerQuantity(first: string, second: string): string {
  const [left, right] = [quantityValue(first), quantityValue(second)];
  return left !== undefined && right !== undefined && right > left ? second : first;
}
