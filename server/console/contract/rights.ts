/**
 * Admin actions that the console's pages need. The session says which of them are allowed, so that nobody is shown a page that would
 * refuse them; the API asks again at each call.
 */
export const consoleActions = [
  'admin:ListUsers',
  'admin:GetUser',
  'admin:CreateUser',
  'admin:EnableUser',
  'admin:DeleteUser',
  'admin:ListGroups',
  'admin:GetGroup',
  'admin:AddUserToGroup',
  'admin:EnableGroup',
  'admin:ListUserPolicies',
  'admin:GetPolicy',
  'admin:CreatePolicy',
  'admin:DeletePolicy',
  'admin:AttachUserOrGroupPolicy',
  'admin:ListServiceAccounts',
  'admin:CreateServiceAccount',
  'admin:UpdateServiceAccount',
  'admin:RemoveServiceAccount',
  'admin:ListTemporaryAccounts',
  'admin:ExplainPolicy',
  'admin:ConfigUpdate',
  'admin:ServerInfo',
] as const;

export type ConsoleAction = (typeof consoleActions)[number];

export interface Rights {
  /** For whomever it is about. */
  readonly all: readonly ConsoleAction[];
  /** For the person's own access keys and secret key: everybody may, unless a policy denies it. */
  readonly own: readonly ConsoleAction[];
}
