import type { Command } from 'commander';
import { wholeProgram } from '../../cli/program.ts';

/** What a command does in the stage of the table. */
type Kind =
  /** It prints something. */
  | 'prints'
  /** It fails, and says why on standard error, or with --json on standard output. */
  | 'fails'
  /** It may have nothing to print. */
  | 'may-be-silent'
  /** It goes on until it is interrupted, and is not run. */
  | 'endless';

export interface Row {
  readonly command: string;
  readonly line: string;
  readonly kind: Kind;
}

/**
 * A line for each command. `s` is a server, and nothing is called `nobody`. `!` stands before what fails in this stage, `?` before what may print nothing,
 * and `~` before what goes on. No line changes what another one reads.
 */
const lines = `
help
!alias set new http://127.0.0.1:1 access-key secret-key
alias list
!alias remove nobody
!alias import broken FOLDER/file
alias export local
!login nobody
!logout nobody
!credentials nobody
mb -p s/box
!rb s/nobody
ls s/box
stat s/box/dir/file
tree s/box
du s/box
diff FOLDER s/box
find s/box
cp FOLDER/file s/box/other
!mv FOLDER/nothing s/box/other
mirror --dry-run FOLDER s/box/
get s/box/dir/file /dev/null
put FOLDER/file s/box/other
!pipe s/nobody/piped
od if=FOLDER/file of=s/box/other
cat s/box/dir/file
head s/box/dir/file
rm --dry-run s/box/dir/file
share download s/box/dir/file
share upload s/box/dir/upload
share list download
!undo s/nobody/file
sql --csv-input fd=, --query select%20*%20from%20s3object s/box/dir/file
~watch s/box
version enable s/versions
version suspend s/versions
version info s/box
tag set s/box a=b
tag list s/tagged
!tag remove s/nobody
!legalhold set s/box/dir/file
!legalhold clear s/box/dir/file
!legalhold info s/box/dir/file
!retention set governance 1d s/box/dir/file
!retention clear s/box/dir/file
!retention info s/box/dir/file
anonymous set none s/box
anonymous set-json FOLDER/bucket-policy.json s/shared
anonymous get s/box
anonymous get-json s/shared
anonymous list s/shared
anonymous links s/shared
!cors set s/box FOLDER/file
cors get s/box
!cors remove s/nobody
!encrypt set sse-s3 s/nobody
!encrypt info s/nobody
!encrypt clear s/nobody
quota set s/quota --size 1GiB
quota info s/quota
!quota clear s/nobody
ready s
ping -c 1 s
completion bash
!update http://127.0.0.1:1/none
ilm rule add --expire-days 90 s/rules
!ilm rule edit --id nothing s/rules
ilm rule list s/listed
!ilm rule remove --id nothing s/listed
ilm rule export s/listed
!ilm rule import s/nobody
!ilm tier add minio s COLD
!ilm tier update s COLD
?ilm tier list s
!ilm tier info s COLD
!ilm tier remove s COLD
!ilm tier check s COLD
!ilm restore s/box/dir/file
!event add s/box arn:minio:sqs::none:webhook
?event list s/box
!event remove s/box arn:minio:sqs::none:webhook
!replicate add s/box --remote-bucket http://a:b@127.0.0.1:1/x
!replicate update s/box --id none
!replicate list s/box
replicate remove s/box --id none
replicate export s/box
!replicate import s/box
!replicate status s/box
!replicate backlog s/nobody
!replicate verify s/box
!replicate resync start s/box --remote-bucket none
!replicate resync cancel s/box --remote-bucket none
!replicate resync status s/box
!support diag nobody
!support perf nobody
!support inspect nobody/box/file
!support profile nobody
support top locks s
~support top api s
~support top drive s
~support top net s
~support top rpc s
license info s
!license register s
!license unregister s
!license update s
batch generate s replicate
!batch start s FOLDER/file
batch list s
!batch status s none
!batch describe s none
!batch cancel s none
admin info s
!admin service restart nobody
!admin service stop nobody
!admin service freeze nobody
admin service unfreeze s
~admin trace s
~admin logs s
admin prometheus generate s
admin prometheus metrics s
admin usage s
admin user add s ann ann-secret
admin user list s
admin user info s eve
admin user policy s eve
admin user disable s off
admin user enable s off
!admin user remove s nobody
admin user svcacct add s eve
admin user svcacct list s eve
!admin user svcacct info s nobody
!admin user svcacct edit s nobody
!admin user svcacct enable s nobody
!admin user svcacct disable s nobody
!admin user svcacct remove s nobody
!admin user sts info s nobody
admin group add s team eve
!admin group remove s nobody
admin group list s
admin group info s crew
admin group enable s crew
!admin group disable s nobody
admin policy create s written FOLDER/policy.json
admin policy remove s nobody
admin policy list s
admin policy info s readonly
!admin policy attach s readonly --user nobody
!admin policy detach s readonly --user nobody
admin policy entities s
admin policy explain s eve s3:GetObject
admin accesskey create s
admin accesskey list s
!admin accesskey info s nobody
!admin accesskey edit s nobody
!admin accesskey enable s nobody
!admin accesskey disable s nobody
!admin accesskey remove s nobody
!admin accesskey sts-revoke s nobody
!idp openid add s config_url=http://127.0.0.1:1 client_id=x
!idp openid update s none client_id=x
?idp openid list s
!idp openid info s none
!idp openid remove s none
!idp openid enable s none
!idp openid disable s none
!idp openid test s none
!idp openid keycloak-setup s none
idp openid check s nobody
!idp openid policy attach s readonly
!idp openid policy detach s readonly
?idp openid policy list s
!idp ldap add s server_addr=127.0.0.1:1
!idp ldap update s server_addr=127.0.0.1:1
?idp ldap list s
!idp ldap info s
!idp ldap remove s
!idp ldap enable s
!idp ldap disable s
!idp ldap test s
!idp ldap policy attach s readonly --user nobody
!idp ldap policy detach s readonly --user nobody
idp ldap policy entities s
!idp ldap accesskey create s
!idp ldap accesskey create-with-login http://127.0.0.1:1
admin config get s
!admin config set s region name=x
!admin config reset s nothing
admin config history s
!admin config restore s nothing
admin config export s
!admin config import s FOLDER/file
!admin kms key create s key
!admin kms key status s
!admin kms key list s
!admin kms key import s key
admin kms key rotate s
?admin kms key usage s
?admin events held s
!admin events retry s nobody:webhook --all
!admin events drop s nobody:webhook --all --force
!admin kms key remove s key
!admin cluster iam export nobody
!admin cluster iam import s FOLDER/file
!admin cluster bucket export nobody
!admin cluster bucket import s FOLDER/file
!admin replicate add s nobody
!admin replicate update s
!admin replicate remove s
admin replicate info s
admin replicate status s
!admin replicate resync status s nobody
!admin replicate resync start s nobody
!admin replicate resync cancel s nobody
admin bucket quota s/box
admin bucket info s/box
!admin bucket remote s/box
~admin scanner status s
~admin scanner trace s
`;

/** Commands that are others under a second name. */
const sameAs: readonly (readonly [prefix: RegExp, first: string])[] = [
  [/^admin idp /, 'idp '],
  [/^idp (?:openid|ldap) accesskey (?!create)/, 'admin accesskey '],
  [/^admin tier /, 'ilm tier '],
  [/^admin top /, 'support top '],
  [/^admin console$/, 'admin logs'],
];

function firstName(command: string): string {
  return sameAs.reduce((name, [prefix, first]) => name.replace(prefix, first), command);
}

function leaves(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands
    .filter((one) => one.name() !== 'help' || path.length === 0)
    .flatMap((one) => leaves(one, [...path, one.name()]));
}

const rowKinds: Readonly<Record<string, Kind>> = { '!': 'fails', '?': 'may-be-silent', '~': 'endless' };

/** What must be there before the lines run. */
export const stageLines: readonly string[] = [
  'mb s/box',
  'mb s/tagged',
  'mb s/versions',
  'mb s/quota',
  'mb s/rules',
  'mb s/listed',
  'mb s/shared',
  'cp FOLDER/file s/box/dir/file',
  'cp FOLDER/file s/shared/file',
  'share download s/box/dir/file',
  'tag set s/tagged a=b',
  'quota set s/quota --size 1GiB',
  'ilm rule add --expire-days 90 s/listed',
  'anonymous set download s/shared',
  'admin user add s eve eve-secret',
  'admin user add s off off-secret',
  'admin group add s crew eve',
  'admin policy attach s readonly --user eve',
];

/**
 * Returns a row for each command of the program.
 *
 * @throws Error for a command without a line, and for a line without a command
 */
export async function everyCommand(): Promise<readonly Row[]> {
  const { program } = await wholeProgram();
  const commands = new Set(leaves(program).map(firstName));
  const rows = lines
    .trim()
    .split('\n')
    .map((text): Row => {
      const kind = rowKinds[text.charAt(0)];
      const line = kind === undefined ? text : text.slice(1);
      const command = [...commands]
        .filter((one) => `${line} `.startsWith(`${one} `))
        .toSorted((one, other) => other.length - one.length)[0];
      if (command === undefined) throw new Error(`no command is called as in "${line}"`);
      return { command, line, kind: kind ?? 'prints' };
    });
  const missing = [...commands].filter((command) => !rows.some((row) => row.command === command));
  if (missing.length > 0) throw new Error(`test/cli/every-command.ts has no line for: ${missing.join(', ')}`);
  return rows;
}
