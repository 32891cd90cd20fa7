import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  paginateListSecrets,
  type GetSecretValueCommandOutput,
} from '@aws-sdk/client-secrets-manager';
import { keyNameError } from '../../../protocol/key-service/names.ts';
import type { AwsKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError, type KeyStore } from '../keystore.ts';
import { confirmCreated } from '../remote/confirm-created.ts';
import { type Outcome, probe, Remote, type RemoteOptions } from '../remote/remote.ts';
import { AwsClient } from './aws-client.ts';
import { readAwsFailure } from './aws-errors.ts';

const exists = 'ResourceExistsException';
const missing = 'ResourceNotFoundException';
/** The state of a secret that is being deleted, or that can still be restored. */
const marked = 'InvalidRequestException';

/** The time limit of a deletion without recovery, and of a new secret that is not visible everywhere. */
const retries = { times: 8, pauseMs: 1000 };

/** Stores keys as secrets of AWS Secrets Manager. Creation is atomic there, and fails for an existing secret. */
export class AwsKeyStore implements KeyStore {
  readonly #client: AwsClient;
  readonly #kmsKey: string | undefined;

  constructor(settings: AwsKeyStoreSettings, options: RemoteOptions = {}) {
    this.#client = new AwsClient(settings, new Remote(options));
    this.#kmsKey = settings.kmsKey;
  }

  async create(name: string, record: Buffer): Promise<void> {
    const command = new CreateSecretCommand({
      Name: name,
      SecretString: record.toString('utf8'),
      ...(this.#kmsKey === undefined ? {} : { KmsKeyId: this.#kmsKey }),
      // AWS recognizes a repeated request by this token.
      ClientRequestToken: randomUUID(),
    });
    const operation = { action: 'CreateSecret', key: name } as const;
    const outcome = await this.#patiently(
      () => this.#client.ask(operation, (client) => client.send(command), exists, marked),
      (outcome) => 'refusal' in outcome && readAwsFailure(outcome.refusal).type === marked,
    );
    if ('value' in outcome) return this.#confirm(name, record);
    const { refusal } = outcome;
    const { type, message } = readAwsFailure(refusal);
    if (type === exists) return confirmCreated(this, name, record, refusal.repeated ? 'in-doubt' : 'taken');
    if (!/deletion|deleted/.test(message)) throw this.#client.error(operation, refusal);
    throw new KeyError(
      'refused',
      `AWS Secrets Manager at ${this.#client.endpoint} holds a deleted key "${name}" that can be restored, so its name cannot be used: ` +
        `bring it back by "aws secretsmanager restore-secret --secret-id ${name}", or remove it for good by "keysvc key rm ${name}"`,
    );
  }

  async get(name: string): Promise<Buffer> {
    const current = await this.#read(name, 'AWSCURRENT');
    if (current === undefined) throw this.#notFound(name);
    const previous = await this.#read(name, 'AWSPREVIOUS');
    if (previous === undefined || previous.equals(current)) return current;
    throw new KeyError(
      'corrupted',
      `the key "${name}" in AWS Secrets Manager at ${this.#client.endpoint} was written over, and what was sealed needs its first version: ` +
        'make that AWSCURRENT and take AWSPREVIOUS away by "aws secretsmanager update-secret-version-stage"',
    );
  }

  async delete(name: string): Promise<void> {
    // The deletion gives the same answer for a missing secret.
    const look = await this.#ask(name, 'AWSCURRENT');
    if ('refusal' in look && readAwsFailure(look.refusal).type === missing) throw this.#notFound(name);
    const command = new DeleteSecretCommand({ SecretId: name, ForceDeleteWithoutRecovery: true });
    await this.#client.ask({ action: 'DeleteSecret', key: name }, (client) => client.send(command), missing);
  }

  async *list(): AsyncIterable<string> {
    const outcome = await this.#client.ask({ action: 'ListSecrets' }, (client) =>
      Array.fromAsync(paginateListSecrets({ client }, { MaxResults: 100 })),
    );
    // No error is expected, so there is always a value.
    for (const { SecretList } of 'value' in outcome ? outcome.value : []) {
      if (SecretList === undefined) throw new KeyError('unavailable', `${this.#client.name} answers without a list`);
      for (const { Name } of SecretList) if (Name !== undefined && keyNameError(Name) === undefined) yield Name;
    }
  }

  probe(): Promise<void> {
    return probe(this.#client);
  }

  async close(): Promise<void> {}

  /** A new secret may not be visible everywhere yet. */
  async #confirm(name: string, record: Buffer): Promise<void> {
    await this.#patiently(
      () => this.#ask(name, 'AWSCURRENT'),
      (outcome) => 'refusal' in outcome && readAwsFailure(outcome.refusal).type === missing,
    );
    await confirmCreated(this, name, record, 'written');
  }

  async #patiently<T>(ask: () => Promise<Outcome<T>>, waits: (outcome: Outcome<T>) => boolean): Promise<Outcome<T>> {
    for (let time = 1; ; time++) {
      const outcome = await ask();
      if (!waits(outcome) || time === retries.times) return outcome;
      await this.#client.remote.clock.sleep(retries.pauseMs);
    }
  }

  /** Undefined where the secret does not exist, or is deleted. */
  async #read(name: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<Buffer | undefined> {
    const outcome = await this.#ask(name, stage);
    if ('refusal' in outcome) {
      const { type, message } = readAwsFailure(outcome.refusal);
      if (type === missing || /deletion|deleted/.test(message)) return undefined;
      throw this.#client.error({ action: 'GetSecretValue', key: name }, outcome.refusal);
    }
    const { SecretString: text, SecretBinary: binary } = outcome.value;
    if (text !== undefined) return Buffer.from(text, 'utf8');
    if (binary !== undefined) return Buffer.from(binary);
    throw new KeyError('corrupted', `${this.#client.name} holds no value for the key "${name}"`);
  }

  #ask(name: string, stage: string): Promise<Outcome<GetSecretValueCommandOutput>> {
    const command = new GetSecretValueCommand({ SecretId: name, VersionStage: stage });
    const operation = { action: 'GetSecretValue', key: name } as const;
    return this.#client.ask(operation, (client) => client.send(command), missing, marked);
  }

  #notFound(name: string): KeyError {
    return new KeyError('not-found', `${this.#client.name} has no key "${name}"`);
  }
}
