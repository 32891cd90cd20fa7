import { DatabaseError } from 'pg';
import { readSecretAgain } from '../rotated-secret.ts';

/** The password of the role. One in a file is read again when the database refuses it, so that a rotation needs no restart. */
export class RolePassword {
  #current: string | undefined;
  readonly #file: string | undefined;

  constructor(password: string | undefined, file: string | undefined) {
    this.#current = password;
    this.#file = file;
  }

  /** Runs `open` with the password, and once more if the database refuses it and the file has another one. */
  async with<T>(open: (password: string | undefined) => Promise<T>): Promise<T> {
    const used = this.#current;
    try {
      return await open(used);
    } catch (error) {
      if (this.#file === undefined || !isRefusal(error)) throw error;
      const found = await readSecretAgain(this.#file);
      if (found !== undefined) this.#current = found;
      if (this.#current === used) throw error;
      return open(this.#current);
    }
  }
}

/** PostgreSQL refuses a password by 28P01 or 28000, and PgBouncer by 08P01 too. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return error.code === '28P01' || error.code === '28000' || (error.code === '08P01' && /auth/i.test(error.message));
}
