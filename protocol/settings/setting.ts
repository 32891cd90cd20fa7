/**
 * One setting of the server: the row from which the loader, validation, help texts, documentation and the operator's rendering
 * come. `SVC_*` is the specification's name; the aliases are those that real deployments use.
 */
export interface Setting<T extends SettingType = SettingType> {
  /** The specification's name, e.g. `SVC_ROOT_USER`. One of a provider ends where its `_<ID>` begins. */
  readonly name: string;
  /** Other names, in the order they are tried after `name`. */
  readonly aliases: readonly string[];
  readonly type: T;
  readonly default?: string;
  /** Never logged or shown; may also be given as `<NAME>_FILE`, the path of a file with the value. */
  readonly secret: boolean;
  /** Whether a change takes effect only with a restart. */
  readonly restart: boolean;
  /**
   * `per-provider` and `per-target` settings carry the suffix `_<ID>` of an identity provider or of a place that audit entries go to;
   * without one they belong to the one called `_`.
   */
  readonly scope: 'server' | 'per-provider' | 'per-target';
  /** The key of `admin config` and `admin idp openid`, e.g. `client_id`; synonyms after it. */
  readonly configKeys?: readonly string[];
  /** One sentence: what it does, its unit, what happens without it. */
  readonly help: string;
}

/** The name as people read it, with what stands for a suffix. */
export function shownName({ name, scope }: Pick<Setting, 'name' | 'scope'>): string {
  return scope === 'server' ? name : `${name}_<ID>`;
}

export type SettingType =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly expects?: string }
  | { readonly kind: 'url'; readonly list?: boolean }
  | { readonly kind: 'path' }
  | { readonly kind: 'on-off' }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** `30s`, `10m`, `1h30m`, `7d`. */
  | { readonly kind: 'duration' }
  /** `10GiB`, `5%` where `percent`. */
  | { readonly kind: 'size'; readonly percent?: boolean };
