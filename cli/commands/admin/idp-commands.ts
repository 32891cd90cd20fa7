import type { Command } from 'commander';
import { administration } from '../administration.ts';
import { define, group, type Runner } from '../define.ts';
import { addChanges, addInfo, addRevoke, listOptions, newKeyOptions } from './access-key-commands.ts';
import type { ListKeysOptions } from './access-key-list.ts';
import type { KeyOptions } from './access-keys.ts';
import type { ClaimOptions } from './claim-policies.ts';
import type { IdpType } from './idp-configs.ts';
import { addLdapTest } from './ldap-test-command.ts';
import type { SignInOptions } from './openid-test.ts';
import type { EntitiesOptions, HolderOptions } from './policy-attachments.ts';
import { entitiesOptions, holderOptions } from './policy-commands.ts';

/** Below `admin`, as the specification has them, and at the top, as stock clients do. */
export function addIdpCommands(parent: Command, run: Runner, path: 'idp' | 'admin idp'): void {
  const idp = group(parent, 'idp', administration.idp);
  const openid = group(idp, 'openid', 'OpenID providers, and rights of their people');
  addConfigurations(openid, run, 'openid', `${path} openid`);
  addTest(openid, run, `${path} openid`);
  addClaimPolicies(openid, run, `${path} openid`);
  addOpenIdKeys(openid, run, `${path} openid`);
  const ldap = group(idp, 'ldap', 'the directory, and rights of its people');
  addConfigurations(ldap, run, 'ldap', `${path} ldap`);
  addLdapTest(ldap, run, `${path} ldap`);
  addDirectoryPolicies(ldap, run, `${path} ldap`);
  addDirectoryKeys(ldap, run, `${path} ldap`);
}

const settingsOf: Readonly<Record<IdpType, string>> = {
  openid:
    'config_url=https://idp.example.com/realms/main/.well-known/openid-configuration client_id=coffer client_secret=-',
  ldap: 'server_addr=ldap.example.org:636 lookup_bind_dn=cn=reader,dc=example,dc=org lookup_bind_password=-',
};

function addConfigurations(parent: Command, run: Runner, type: IdpType, path: string): void {
  // There is one directory, which has no name.
  const [name, example] = type === 'openid' ? [' [name]', ' PRIMARY_IAM'] : ['', ''];
  const what = type === 'openid' ? 'provider' : 'directory';
  for (const [mode, description] of [
    ['add', `configure a ${what}; the value - is asked for without echo`],
    ['update', `change settings of a ${what}; those left out stay, empty ones go`],
  ] as const) {
    const values = mode === 'add' ? settingsOf[type] : type === 'openid' ? 'vendor=keycloak' : 'server_starttls=on';
    define(parent, run, {
      usage: type === 'openid' ? `${mode} <alias> <nameOrSetting> [settings...]` : `${mode} <alias> <settings...>`,
      description,
      examples: [
        [`${path} ${mode} mine${example} ${values}`, ''],
        [`admin config get mine identity_${type}`, 'shows what is set'],
        [`admin config set mine identity_${type}`, 'shows what can be set'],
      ],
      doing: `${mode} the ${what} at`,
      subject: 0,
      run: async (context, args) => (await import('./idp-configs.ts')).saveIdp(context, args, type, mode),
    });
  }
  define(parent, run, {
    usage: 'list <alias>',
    alias: 'ls',
    description: `show what is configured`,
    examples: [[`${path} list mine`, '']],
    doing: `list the ${type} configurations of`,
    run: async (context, args) => (await import('./idp-configs.ts')).listIdps(context, args, type),
  });
  define(parent, run, {
    usage: `info <alias>${name}`,
    description: 'show the settings of a configuration, without secrets',
    examples: [[`${path} info mine${example}`, '']],
    doing: 'show the configuration',
    run: async (context, args) => (await import('./idp-configs.ts')).showIdp(context, args, type),
  });
  define(parent, run, {
    usage: `remove <alias>${name}`,
    alias: 'rm',
    description: 'remove a configuration',
    examples: [[`${path} remove mine${example}`, '']],
    doing: 'remove the configuration',
    run: async (context, args) => (await import('./idp-configs.ts')).removeIdp(context, args, type),
  });
  for (const [verb, enable] of [
    ['enable', 'on'],
    ['disable', 'off'],
  ] as const) {
    define(parent, run, {
      usage: `${verb} <alias>${name}`,
      description: `switch a configuration ${enable}`,
      examples: [[`${path} ${verb} mine${example}`, '']],
      doing: `${verb} the configuration`,
      run: async (context, args) => (await import('./idp-configs.ts')).switchIdp(context, args, type, enable),
    });
  }
}

function addTest(openid: Command, run: Runner, path: string): void {
  define<SignInOptions>(openid, run, {
    usage: 'test <alias> [name]',
    description:
      'walk the whole way of a sign-in, and say where it breaks: discovery, keys, client, token, claim, policies',
    options: [
      ['--token-file <file>', 'a token of the provider; `-` reads standard input'],
      ['--user <name>', 'get a token by name and password, which is asked for'],
      ['--device', 'get a token by a code that you enter in a browser'],
    ],
    examples: [
      [`${path} test mine PRIMARY_IAM`, 'as far as it goes without a person'],
      [`${path} test mine PRIMARY_IAM --device`, ''],
      [`${path} test mine PRIMARY_IAM --user ann`, 'asks for her password'],
      [`${path} test mine PRIMARY_IAM --token-file token.jwt`, ''],
    ],
    doing: 'test the provider',
    run: async (context, args, options) => (await import('./openid-test.ts')).testOpenId(context, args, options),
  });
  define(openid, run, {
    usage: 'check <alias> [person]',
    description: 'ask providers now whether people still exist; who is gone loses access at once',
    examples: [
      [`${path} check mine`, 'everybody who has credentials'],
      [`${path} check mine ann`, ''],
    ],
    doing: 'check the people of',
    run: async (context, args) => (await import('./check-people.ts')).checkPeople(context, args),
  });
}

function addClaimPolicies(openid: Command, run: Runner, path: string): void {
  const policy = group(openid, 'policy', 'policies of everybody whose token has a claim');
  for (const change of ['attach', 'detach'] as const) {
    define<ClaimOptions>(policy, run, {
      usage: `${change} <alias> <policies...>`,
      description: change === 'attach' ? 'give policies to a claim' : 'take policies from a claim',
      options: [
        ['--provider <name>', 'the configuration; the one without a name where it is left out'],
        ['--claim <name>', 'the claim, or a path with / into claims'],
        ['--value <value>', 'its value; * and ? stand for any characters'],
      ],
      examples: [
        [
          `${path} policy ${change} mine readonly --provider CLUSTER --claim sub --value 'system:serviceaccount:apps:*'`,
          '',
        ],
      ],
      doing: `${change} the policy`,
      run: async (context, args, options) =>
        (await import('./claim-policies.ts')).changeClaimPolicies(context, args, options, change),
    });
  }
  define(policy, run, {
    usage: 'list <alias>',
    alias: 'ls',
    description: 'show which claims have which policies',
    examples: [[`${path} policy list mine`, '']],
    doing: 'list the policies of claims at',
    run: async (context, args) => (await import('./claim-policies.ts')).listClaimPolicies(context, args),
  });
}

function addOpenIdKeys(openid: Command, run: Runner, path: string): void {
  const keys = group(openid, 'accesskey', 'access keys of people of OpenID providers');
  define<ListKeysOptions>(keys, run, {
    usage: 'list <alias> [people...]',
    alias: 'ls',
    description: 'show access keys and temporary credentials of people; without any those of everybody',
    options: listOptions,
    examples: [[`${path} accesskey list mine ann`, '']],
    doing: 'list the access keys of',
    run: async (context, args, options) =>
      (await import('./access-key-list.ts')).listOpenIdKeys(context, args, options),
  });
  addInfo(keys, run, `${path} accesskey`);
  addChanges(keys, run, `${path} accesskey`);
  addRevoke(keys, run, 'openid', `${path} accesskey`);
}

function addDirectoryPolicies(ldap: Command, run: Runner, path: string): void {
  const policy = group(ldap, 'policy', 'policies of people and groups of the directory');
  for (const change of ['attach', 'detach'] as const) {
    define<HolderOptions>(policy, run, {
      usage: `${change} <alias> <policies...>`,
      description: change === 'attach' ? 'give policies to a person or group' : 'take policies from a person or group',
      options: holderOptions,
      examples: [
        [`${path} policy ${change} mine readwrite --user 'uid=ann,ou=people,dc=example,dc=org'`, ''],
        [`${path} policy ${change} mine readonly --group 'cn=staff,ou=groups,dc=example,dc=org'`, ''],
      ],
      doing: `${change} the policy`,
      run: async (context, args, options) =>
        (await import('./policy-attachments.ts')).changeAttachments(context, args, options, { kind: 'ldap', change }),
    });
  }
  define<EntitiesOptions>(policy, run, {
    usage: 'entities <alias>',
    description: 'show who of the directory has which policies; without options all that are attached',
    options: entitiesOptions,
    examples: [[`${path} policy entities mine`, '']],
    doing: 'show who has policies at',
    run: async (context, args, options) =>
      (await import('./policy-attachments.ts')).showEntities(context, args, options, 'ldap'),
  });
}

function addDirectoryKeys(ldap: Command, run: Runner, path: string): void {
  const keys = group(ldap, 'accesskey', 'access keys of people of the directory');
  define<ListKeysOptions>(keys, run, {
    usage: 'list <alias> [people...]',
    alias: 'ls',
    description: 'show access keys and temporary credentials of people by DN; without any those of everybody',
    options: listOptions,
    examples: [[`${path} accesskey list mine 'uid=ann,ou=people,dc=example,dc=org'`, '']],
    doing: 'list the access keys of',
    run: async (context, args, options) =>
      (await import('./access-key-list.ts')).listDirectoryKeys(context, args, options),
  });
  define<KeyOptions>(keys, run, {
    usage: 'create <alias> [person]',
    description: 'make an access key for yourself, or for a person by name or DN',
    options: newKeyOptions,
    examples: [[`${path} accesskey create mine ann --name backup`, '']],
    doing: 'make an access key for',
    run: async (context, args, options) =>
      (await import('./access-keys.ts')).createAccessKey(context, args, options, 'idp/ldap/add-service-account'),
  });
  define<KeyOptions>(keys, run, {
    usage: 'create-with-login <url>',
    description: 'make an access key for yourself by name and password of the directory, which are asked for',
    options: newKeyOptions,
    examples: [
      [`${path} accesskey create-with-login https://coffer.example.com`, 'needs no alias'],
      [`${path} accesskey create-with-login mine --name laptop`, 'the server of an alias'],
    ],
    doing: 'make an access key by a login at',
    run: async (context, args, options) => (await import('./ldap-login.ts')).createKeyWithLogin(context, args, options),
  });
  addInfo(keys, run, `${path} accesskey`);
  addChanges(keys, run, `${path} accesskey`);
  addRevoke(keys, run, 'ldap', `${path} accesskey`);
}
