import type { Context } from '../../context.ts';
import { printable } from '../../terminal/format.ts';

/** How far a sign-in gets that was tried at the server. */
export interface SignInStep {
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}

const marks: Readonly<Record<SignInStep['outcome'], string>> = { ok: '✔', failed: '✘', unclear: '?', skipped: '-' };

export function printSteps({ output }: Context, provider: string, steps: readonly SignInStep[]): void {
  const width = Math.max(12, ...steps.map(({ step }) => step.length));
  const lines = steps.map(
    ({ step, outcome, message }) => `${marks[outcome]} ${printable(step).padEnd(width)} ${printable(message)}`,
  );
  output.list(
    lines.join('\n'),
    steps.map((step) => ({ provider, ...step })),
  );
}

export function hasFailed(steps: readonly SignInStep[]): boolean {
  return steps.some(({ outcome }) => outcome === 'failed');
}
