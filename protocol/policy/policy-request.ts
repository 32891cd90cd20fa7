import { parseDate, parseDecimal, type Decimal } from './condition-values.ts';

import { parseAddress, type IpAddress } from './ip-range.ts';
import { type PrincipalNames, bareResource } from './arns.ts';
import type { Lookup } from './variables.ts';

/** What a value of a condition may ask of a request. Values of the request are read once, however many conditions compare them. */
export interface RequestValues {
  readonly lookup: Lookup;
  /** Undefined where the text is no address; so with the next two. */
  address(text: string): IpAddress | undefined;
  date(text: string): number | undefined;
  decimal(text: string): Decimal | undefined;
}

/**
 * A request as statements are held against it. Context and variables are looked at when the first condition or variable asks for them:
 * most requests are decided before.
 */
export class PreparedRequest implements RequestValues {
  /** In lower case. */
  readonly action: string;
  /** `s3`, `kms`, `admin` or `sts`. The older names of the actions of keys, `admin:KMS…`, belong to `kms`: their resource is a key too. */
  readonly service: string;
  /** Without the beginning of its ARN; `''` where the action has none. */
  readonly resource: string;
  /** A bucket as `bucket/`; undefined for objects and everything else. */
  readonly bucketAsFolder: string | undefined;
  readonly #request: PolicyRequest;
  readonly #values = new Map<string, readonly string[]>();
  readonly #texts = new Map<string, string | undefined>();
  readonly #addresses: Read<IpAddress>[] = [];
  readonly #dates: Read<number>[] = [];
  readonly #decimals: Read<Decimal>[] = [];

  constructor(request: PolicyRequest) {
    this.#request = request;
    this.action = request.action.toLowerCase();
    const service = this.action.slice(0, Math.max(0, this.action.indexOf(':')));
    this.service = this.action.startsWith('admin:kms') ? 'kms' : service;
    this.resource = bareResource(request.resource);
    const isBucket = this.service !== 'kms' && this.resource !== '' && !this.resource.includes('/');
    this.bucketAsFolder = isBucket ? `${this.resource}/` : undefined;
  }

  /** As it was asked. */
  get asked(): PolicyRequest {
    return this.#request;
  }

  get principals(): PrincipalNames | undefined {
    return this.#request.principals;
  }

  get accessKey(): string | undefined {
    return this.#request.accessKey;
  }

  /** The values of a condition key, in lower case; none where the request lacks it. */
  values(key: string): readonly string[] {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const values = byName(this.#request.context, key) ?? [];
    this.#values.set(key, values);
    return values;
  }

  /**
   * What a variable stands for: what is known of the sender, else a condition key that has one value. A key with several stands for
   * nothing, as there is no one value to put in.
   */
  readonly lookup: Lookup = (name) => {
    if (this.#texts.has(name)) return this.#texts.get(name);
    const [only, more] = this.values(name);
    const text = byName(this.#request.variables, name) ?? (more === undefined ? only : undefined);
    this.#texts.set(name, text);
    return text;
  };

  address(text: string): IpAddress | undefined {
    // Node names the interface of a link-local address: fe80::1%eth0.
    return once(this.#addresses, text, () => parseAddress(text.split('%', 1)[0] ?? ''));
  }

  date(text: string): number | undefined {
    return once(this.#dates, text, () => parseDate(text));
  }

  decimal(text: string): Decimal | undefined {
    return once(this.#decimals, text, () => parseDecimal(text));
  }
}

interface Read<T> {
  readonly text: string;
  readonly value: T | undefined;
}

/** A list, since a request has one address and one time: a map for each would cost more than it saves. */
function once<T>(reads: Read<T>[], text: string, read: () => T | undefined): T | undefined {
  const known = reads.find((one) => one.text === text);
  if (known !== undefined) return known.value;
  const value = read();
  // Who sends a thousand values is answered, not remembered.
  if (reads.length < 8) reads.push({ text, value });
  return value;
}

/** The last entry of that name without regard to case. Few keys are asked for, so that lowering all of them would cost more. */
function byName<T>(record: Readonly<Record<string, T>>, lower: string): T | undefined {
  let found: T | undefined;
  for (const name of Object.keys(record)) {
    if (name.length === lower.length && name.toLowerCase() === lower) found = record[name];
  }
  return found;
}

export interface PolicyRequest {
  /** e.g. `s3:GetObject`; compared without regard to case. */
  readonly action: string;
  /**
   * `bucket/key`, `bucket`, the name of a key for actions of kms, or `''` for actions that have none; with or without the beginning of
   * its ARN.
   */
  readonly resource: string;
  /** Condition keys, compared without regard to case, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /**
   * What `${…}` stands for, by name: `aws:username`, `jwt:preferred_username`. A name that is not here stands for the condition key of
   * that name where it has one value, and else matches nothing.
   */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The subject's own names, for statements that say whom they are about; without it such a statement fits nobody. An access key is no
   * name: its owner chooses it, and would choose the name of another.
   */
  readonly principals?: PrincipalNames;
  /** The access key of the request. Only a Deny may name it: a key that its owner chose never opens anything. */
  readonly accessKey?: string;
}
