import { parseDate, parseDecimal, type Decimal } from './condition-values.ts';

import { parseAddress, type IpAddress } from './ip-range.ts';
import { type PrincipalNames, bareResource } from './arns.ts';
import type { Lookup } from './variables.ts';

/** The parts of a request that comparers use. A value of the request is parsed once, for any number of conditions. */
export interface RequestValues {
  readonly lookup: Lookup;
  /** Parses a text as an address. These three functions return undefined if the text is not valid. */
  address(text: string): IpAddress | undefined;
  date(text: string): number | undefined;
  decimal(text: string): Decimal | undefined;
}

/**
 * A request that is prepared for matching. Context and variables are read only when a condition or variable needs them: most requests are
 * decided before.
 */
export class PreparedRequest implements RequestValues {
  /** In lower case. */
  readonly action: string;
  /** `s3`, `kms`, `admin` or `sts`. The older names of key actions, `admin:KMS…`, belong to `kms`, because their resource is a key too. */
  readonly service: string;
  /** The resource without the prefix of its ARN; `''` if the action has none. */
  readonly resource: string;
  /** A bucket as `bucket/`; undefined for every other resource. */
  readonly bucketAsFolder: string | undefined;
  readonly #request: PolicyRequest;
  readonly #values = new Map<string, readonly string[]>();
  readonly #texts = new Map<string, string | null | undefined>();
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

  /** The request as the caller gave it. */
  get asked(): PolicyRequest {
    return this.#request;
  }

  get principals(): PrincipalNames | undefined {
    return this.#request.principals;
  }

  get accessKey(): string | undefined {
    return this.#request.accessKey;
  }

  /** Returns the values of a condition key, given in lower case. The list is empty if the request lacks the key. */
  values(key: string): readonly string[] {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const values = byName(this.#request.context, key) ?? [];
    this.#values.set(key, values);
    return values;
  }

  /** Reports whether the request may have a key, given in lower case, whose values are not known here. */
  isUnknown(key: string): boolean {
    return this.#request.isUnknown?.(key) ?? false;
  }

  /**
   * Returns the value of a variable: a fact about the sender, or else the value of a condition key that has exactly one. An empty value is
   * none: `home/${jwt:team}*` must not mean all of `home/`. A key that is there without exactly one value, or may be there, is null, so that
   * no default counts.
   */
  readonly lookup: Lookup = (name) => {
    if (this.#texts.has(name)) return this.#texts.get(name);
    const [only, more] = this.values(name);
    const value = byName(this.#request.variables, name) ?? (more === undefined ? only : undefined);
    const isOther = value === undefined && (byName(this.#request.context, name) !== undefined || this.isUnknown(name));
    const text = isOther ? null : value === '' ? undefined : value;
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

/**
 * Parses a text once. The cache is a list, because a request has one address and one time, and a map for each would cost more than it
 * saves.
 */
function once<T>(reads: Read<T>[], text: string, read: () => T | undefined): T | undefined {
  const known = reads.find((one) => one.text === text);
  if (known !== undefined) return known.value;
  const value = read();
  // The cache is bounded, because a request may have a thousand values.
  if (reads.length < 8) reads.push({ text, value });
  return value;
}

/** Finds the last entry with a name, without regard to case. Few keys are looked up, so that lowering all of them would cost more. */
function byName<T>(record: Readonly<Record<string, T>>, lower: string): T | undefined {
  let found: T | undefined;
  for (const name of Object.keys(record)) {
    if (name.length === lower.length && name.toLowerCase() === lower) found = record[name];
  }
  return found;
}

export interface PolicyRequest {
  /** e.g. `s3:GetObject`, in any case. */
  readonly action: string;
  /**
   * `bucket/key`, `bucket`, the name of a key for actions of kms, or `''` for actions that have none; with or without the prefix of its
   * ARN.
   */
  readonly resource: string;
  /** The condition keys in any case, e.g. `s3:prefix`, `aws:SourceIp`. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /**
   * Reports whether the sender may have a key, given in lower case, whose values are not known here. Where `context` has no value of such a key, a condition on
   * it makes an Allow not apply and a Deny apply, and no default counts.
   */
  readonly isUnknown?: (key: string) => boolean;
  /**
   * The values of variables by name: `aws:username`, `jwt:preferred_username`. A missing variable has the value of the condition key of the
   * same name if that key has exactly one value. Otherwise it matches nothing.
   */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The subject's own names, for statements with principals. Without it such a statement matches no caller. An access key is not a name: its
   * owner chooses it, and could choose the name of another user.
   */
  readonly principals?: PrincipalNames;
  /** The access key of the request. Only a Deny may name it, because its owner chooses it. */
  readonly accessKey?: string;
}
