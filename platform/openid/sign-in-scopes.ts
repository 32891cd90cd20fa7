/** The settings of a provider that say which claims count. */
export interface ClaimSettings {
  /** The configured scopes; empty if none are. */
  readonly scopes: readonly string[];
  /** The claim with the policies. */
  readonly claimName?: string | undefined;
  /** Policies for all users; the claim does not count then. */
  readonly rolePolicy: readonly string[];
  readonly userReadableClaim?: string | undefined;
  readonly userIdClaim?: string | undefined;
}

/** The scope of each standard claim. @see https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims */
const scopeOfClaim: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'name family_name given_name middle_name nickname preferred_username profile picture website gender',
      'birthdate zoneinfo locale updated_at',
    ].flatMap((names) => names.split(' ').map((name) => [name, 'profile'])),
  ),
  email_verified: 'email',
  phone_number: 'phone',
  phone_number_verified: 'phone',
  // Keycloak's scope for the roles of a user.
  realm_access: 'roles',
  resource_access: 'roles',
};

/**
 * Returns the scopes of a sign-in: the configured ones, or those that the configured claims need and the provider lists. They are never all
 * that it lists: a provider refuses a request with a scope that the client does not have. `openid` is always one of them, since without it
 * there is no ID token.
 */
export function scopesOfSignIn(settings: ClaimSettings, supported: readonly string[]): readonly string[] {
  if (settings.scopes.length > 0) return [...new Set(['openid', ...settings.scopes])];
  const { claimName, rolePolicy, userReadableClaim, userIdClaim } = settings;
  const readable = userReadableClaim === undefined ? ['preferred_username', 'email'] : [userReadableClaim];
  const claims = [
    ...(rolePolicy.length > 0 || claimName === undefined ? [] : [claimName]),
    ...readable,
    userIdClaim ?? 'sub',
  ];
  const needed = claims
    .map((claim) => claim.split('/', 1)[0] ?? claim)
    .map((claim) => (Object.hasOwn(scopeOfClaim, claim) ? (scopeOfClaim[claim] ?? claim) : claim));
  return [...new Set(['openid', ...needed.filter((scope) => supported.includes(scope))])];
}

/** Returns the scopes that the provider does not list. A provider without a list is not known to lack any. */
export function unlistedScopes(scopes: readonly string[], supported: readonly string[]): readonly string[] {
  return supported.length === 0 ? [] : scopes.filter((scope) => !supported.includes(scope));
}
