/** The groups of commands for administrators. */
export const administration = {
  admin: 'administer servers',
  idp: 'identity providers',
} as const;
