import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { keyNameProblem } from '../../../protocol/key-service/names.ts';
import type { AwsKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { KeyStore } from '../keystore.ts';
import { confirmCreated } from '../remote/confirm-created.ts';
import { readJson } from '../remote/json-answer.ts';
import { Remote } from '../remote/remote.ts';
import type { RemoteAnswer, RemoteOptions } from '../remote/remote.ts';
import { AwsClient } from './aws-client.ts';
import type { AwsCall } from './aws-client.ts';
import { awsCredentials } from './aws-credentials.ts';
import { readAwsFailure } from './aws-errors.ts';

const exists = 'ResourceExistsException';
const missing = 'ResourceNotFoundException';
/** Of a secret that is to be deleted, in the background or after days in which it can be restored. */
const marked = 'InvalidRequestException';

/** A deletion without recovery takes its moment, and a new secret may not be seen everywhere at once. */
const patience = { times: 8, pauseMs: 1000 };

const value = z.object({ SecretString: z.string().nullish(), SecretBinary: z.string().nullish() });
const page = z.object({
  SecretList: z.array(z.object({ Name: z.string(), DeletedDate: z.number().nullish() })),
  NextToken: z.string().nullish(),
});

/** Keys as secrets of AWS Secrets Manager, spoken to by its own interface. Creation there is of what does not exist, and atomic. */
export class AwsKeyStore implements KeyStore {
  readonly #client: AwsClient;
  readonly #kmsKey: string | undefined;

  constructor(settings: AwsKeyStoreSettings, options: RemoteOptions = {}) {
    this.#client = new AwsClient(settings, awsCredentials(settings), new Remote(options));
    this.#kmsKey = settings.kmsKey;
  }

  async create(name: string, record: Buffer): Promise<void> {
    const body = {
      Name: name,
      SecretString: record.toString('utf8'),
      ...(this.#kmsKey === undefined ? {} : { KmsKeyId: this.#kmsKey }),
      // By it AWS knows a repeated request.
      ClientRequestToken: randomUUID(),
    };
    const call = { action: 'CreateSecret', body, key: name } as const;
    const answer = await this.#patiently(
      () => this.#client.ask(call, exists, marked),
      (answer) => readAwsFailure(answer).type === marked,
    );
    if (answer.status === 200) return this.#confirm(name, record);
    const { type, message } = readAwsFailure(answer);
    if (type === exists) return confirmCreated(this, name, record, answer.repeated ? 'in-doubt' : 'taken');
    if (!/deletion|deleted/.test(message)) throw this.#client.error(call, answer);
    throw new KeyStoreError(
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
    throw new KeyStoreError(
      'corrupted',
      `the key "${name}" in AWS Secrets Manager at ${this.#client.endpoint} was written over, and what was sealed needs its first version: ` +
        'make that AWSCURRENT and take AWSPREVIOUS away by "aws secretsmanager update-secret-version-stage"',
    );
  }

  async delete(name: string): Promise<void> {
    // Deletion itself answers for a secret that is not there as for one that is.
    const look = await this.#client.ask(this.#readCall(name, 'AWSCURRENT'), missing, marked);
    if (readAwsFailure(look).type === missing) throw this.#notFound(name);
    const body = { SecretId: name, ForceDeleteWithoutRecovery: true };
    await this.#client.ask({ action: 'DeleteSecret', body, key: name }, missing);
  }

  async *list(): AsyncIterable<string> {
    let token: string | undefined;
    do {
      const body: object = { MaxResults: 100, ...(token === undefined ? {} : { NextToken: token }) };
      const answer: RemoteAnswer = await this.#client.ask({ action: 'ListSecrets', body });
      const { SecretList, NextToken } = readJson(answer.text, page, this.#of());
      for (const { Name } of SecretList) if (keyNameProblem(Name) === undefined) yield Name;
      token = NextToken ?? undefined;
    } while (token !== undefined);
  }

  async probe(): Promise<void> {
    const { endpoint, remote } = this.#client;
    const answer = await remote.ask({ method: 'GET', url: endpoint, of: this.#of(), once: true });
    if (answer.status < 500) return;
    throw new KeyStoreError('unavailable', `${this.#of()} answers ${answer.status}`);
  }

  async close(): Promise<void> {}

  /** A secret that AWS acknowledged may not be seen everywhere yet. */
  async #confirm(name: string, record: Buffer): Promise<void> {
    await this.#patiently(
      () => this.#client.ask(this.#readCall(name, 'AWSCURRENT'), missing),
      (answer) => answer.status !== 200,
    );
    await confirmCreated(this, name, record, 'written');
  }

  async #patiently(ask: () => Promise<RemoteAnswer>, waits: (answer: RemoteAnswer) => boolean): Promise<RemoteAnswer> {
    for (let time = 1; ; time++) {
      const answer = await ask();
      if (!waits(answer) || time === patience.times) return answer;
      await this.#client.remote.clock.sleep(patience.pauseMs);
    }
  }

  /** Undefined where there is none, or none any more. */
  async #read(name: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<Buffer | undefined> {
    const call = this.#readCall(name, stage);
    const answer = await this.#client.ask(call, missing, marked);
    if (answer.status !== 200) {
      const { type, message } = readAwsFailure(answer);
      if (type === missing || /deletion|deleted/.test(message)) return undefined;
      throw this.#client.error(call, answer);
    }
    const { SecretString: text, SecretBinary: binary } = readJson(answer.text, value, this.#of());
    if (typeof text === 'string') return Buffer.from(text, 'utf8');
    if (typeof binary === 'string') return Buffer.from(binary, 'base64');
    throw new KeyStoreError('corrupted', `${this.#of()} holds no value for the key "${name}"`);
  }

  #readCall(name: string, stage: string): AwsCall {
    return { action: 'GetSecretValue', body: { SecretId: name, VersionStage: stage }, key: name };
  }

  #notFound(name: string): KeyStoreError {
    return new KeyStoreError('not-found', `${this.#of()} has no key "${name}"`);
  }

  #of(): string {
    return `AWS Secrets Manager at ${this.#client.endpoint}`;
  }
}
