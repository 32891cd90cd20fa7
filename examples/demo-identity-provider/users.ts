import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';

/** A person whom the demonstration provider knows. */
export interface DemoUser {
  readonly name: string;
  readonly password: string;
  /** Names of policies of the store, as a real provider keeps them in the user attribute `policy`. */
  readonly policy: readonly string[];
}

/** Two people with different rights and passwords of their own. */
export function newDemoUsers(): readonly DemoUser[] {
  return [
    { name: 'alice', password: newPassword(), policy: ['consoleAdmin'] },
    { name: 'bob', password: newPassword(), policy: ['readonly'] },
  ];
}

/** The user with this name and password. */
export function authenticate(users: readonly DemoUser[], name: unknown, password: unknown): DemoUser | undefined {
  if (typeof name !== 'string' || typeof password !== 'string') return undefined;
  const user = users.find((candidate) => candidate.name === name);
  return equalSecrets(user?.password ?? '', password) ? user : undefined;
}

function newPassword(): string {
  return randomBytes(9).toString('base64url').replaceAll('-', 'x').replaceAll('_', 'y');
}

/** Whether two secrets are equal, in a time that tells nothing of either. */
export function equalSecrets(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
