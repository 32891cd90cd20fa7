import { readSecretAgain } from '../rotated-secret.ts';

/** The keys of another S3, as the settings name them. */
interface KeySettings {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly accessKeyFile?: string;
  readonly secretKeyFile?: string;
}

/** The keys by which requests to another S3 are signed. Those in files are read again when they are refused, so that a rotation needs no restart. */
export class AccessKeys {
  readonly #settings: KeySettings;
  #current: { readonly accessKeyId: string; readonly secretAccessKey: string };
  #reading: Promise<void> | undefined;

  constructor(settings: KeySettings) {
    this.#settings = settings;
    this.#current = { accessKeyId: settings.accessKey, secretAccessKey: settings.secretKey };
  }

  /** The same object as long as the keys are the same. */
  get current(): { readonly accessKeyId: string; readonly secretAccessKey: string } {
    return this.#current;
  }

  /** Reads the files again after these keys were refused. Returns true if there are other keys now. */
  async renew(refused: { readonly accessKeyId: string }): Promise<boolean> {
    if (this.#current === refused) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#current !== refused;
  }

  async #read(): Promise<void> {
    const { accessKeyFile, secretKeyFile } = this.#settings;
    const { accessKeyId, secretAccessKey } = this.#current;
    const access = accessKeyFile === undefined ? undefined : await readSecretAgain(accessKeyFile);
    const secret = secretKeyFile === undefined ? undefined : await readSecretAgain(secretKeyFile);
    const next = { accessKeyId: access ?? accessKeyId, secretAccessKey: secret ?? secretAccessKey };
    if (next.accessKeyId !== accessKeyId || next.secretAccessKey !== secretAccessKey) this.#current = next;
  }
}

/** Codes by which an S3 refuses the keys themselves. An answer to HEAD has none. */
const refusals = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidSecurity', 'HTTP 401', 'HTTP 403']);

export function refusesKeys(code: string): boolean {
  return refusals.has(code);
}
