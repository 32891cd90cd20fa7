const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `30s`, `5m`, `1h30m`, `720h`, `250ms` or `0` to milliseconds; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}
