import type { CommandGroup } from '../command-group.ts';
import { addKeyCommands, listOptions } from './access-key-commands.ts';
import type { ClaimOptions } from './claim-policies.ts';

/** What only OpenID providers have: a sign-in to walk, and claims. */
export function addOpenIdCommands(openid: CommandGroup): void {
  addTest(openid);
  addClaimPolicies(openid);
  addOpenIdKeys(openid);
}

function addTest(openid: CommandGroup): void {
  openid
    .from(() => import('./openid-test.ts'))
    .add('test <alias> [name]', {
      description:
        'walk the whole way of a sign-in, and say where it breaks: discovery, keys, client, token, claim, policies',
      options: [
        ['--token-file <file>', 'a token of the provider; `-` reads standard input'],
        ['--user <name>', 'get a token by name and password, which is asked for'],
        ['--device', 'get a token by a code that you enter in a browser'],
      ],
      examples: [
        ['mine PRIMARY_IAM', 'as far as it goes without a person'],
        'mine PRIMARY_IAM --device',
        ['mine PRIMARY_IAM --user ann', 'asks for her password'],
        'mine PRIMARY_IAM --token-file token.jwt',
      ],
      doing: 'test the provider',
      run: (code) => code.testOpenId,
    });
  openid
    .from(() => import('./check-people.ts'))
    .add('check <alias> [person]', {
      description: 'ask providers now whether people still exist; who is gone loses access at once',
      examples: [['mine', 'everybody who has credentials'], 'mine ann'],
      doing: 'check the people of',
      run: (code) => code.checkPeople,
    });
}

function addClaimPolicies(openid: CommandGroup): void {
  const policy = openid
    .group('policy', 'policies of everybody whose token has a claim')
    .from(() => import('./claim-policies.ts'));
  for (const change of ['attach', 'detach'] as const) {
    policy.add(`${change} <alias> <policies...>`, {
      description: change === 'attach' ? 'give policies to a claim' : 'take policies from a claim',
      options: [
        ['--provider <name>', 'the configuration; the one without a name where it is left out'],
        ['--claim <name>', 'the claim, or a path with / into claims'],
        ['--value <value>', 'its value; * and ? stand for any characters'],
      ],
      examples: ["mine readonly --provider CLUSTER --claim sub --value 'system:serviceaccount:apps:*'"],
      doing: `${change} the policy`,
      run:
        ({ changeClaimPolicies }) =>
        (context, args, options: ClaimOptions) =>
          changeClaimPolicies(context, args, options, change),
    });
  }
  policy.add('list <alias>', {
    alias: 'ls',
    description: 'show which claims have which policies',
    examples: ['mine'],
    doing: 'list the policies of claims at',
    run: (code) => code.listClaimPolicies,
  });
}

function addOpenIdKeys(openid: CommandGroup): void {
  const keys = openid.group('accesskey', 'access keys of people of OpenID providers');
  keys
    .from(() => import('./access-key-list.ts'))
    .add('list <alias> [people...]', {
      alias: 'ls',
      description: 'show access keys and temporary credentials of people; without any those of everybody',
      options: listOptions,
      examples: ['mine ann'],
      doing: 'list the access keys of',
      run: (code) => code.listOpenIdKeys,
    });
  addKeyCommands(keys, 'openid');
}
