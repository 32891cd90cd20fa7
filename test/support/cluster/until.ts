/** Asks until the answer is not undefined, and gives it. Errors with what `otherwise` tells when that takes too long. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { timeoutMs = 360_000, otherwise = () => Promise.resolve('') }: UntilOptions = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  let issue = '';
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      issue = String(error);
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms. ${issue}\n${await otherwise()}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

interface UntilOptions {
  readonly timeoutMs?: number;
  readonly otherwise?: () => Promise<string>;
}
