import type { Answer, Call } from './call.ts';

/** Every call from now on, as it is answered. */
export async function auditStream({ service }: Call): Promise<Answer> {
  return { kind: 'events', source: service.audit };
}

/** Every failure from now on. */
export async function errorStream({ service }: Call): Promise<Answer> {
  return { kind: 'events', source: service.errors };
}
