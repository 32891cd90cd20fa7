/** Pages about one thing. Names are query parameters, since they are no paths: browsers would resolve `..` away. */
export function userUrl(name: string): string {
  return `/user?${new URLSearchParams({ name })}`;
}

export function groupUrl(name: string): string {
  return `/group?${new URLSearchParams({ name })}`;
}

export function policyUrl(name: string): string {
  return `/policy?${new URLSearchParams({ name })}`;
}

export function providerUrl(type: string, name: string): string {
  return `/identity-provider?${new URLSearchParams({ type, name })}`;
}

/** The page that explains, with the question begun. */
export function explainUrl(who: string): string {
  return `/explain?${new URLSearchParams({ who })}`;
}
