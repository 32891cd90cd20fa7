import type { Answer, Call } from './call.ts';

export async function metrics({ service }: Call): Promise<Answer> {
  return { kind: 'text', ...(await service.metrics.text()) };
}
