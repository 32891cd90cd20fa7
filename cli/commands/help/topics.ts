import type { topicNames } from './topic-names.ts';

/** A page of `coffer help TOPIC`, and of the manual. */
export interface Topic {
  readonly title: string;
  /** Paragraphs and tables of plain text, at most 80 columns wide. */
  readonly text: string;
}

export const topics: Readonly<Record<(typeof topicNames)[number], Topic>> = {
  aliases: {
    title: 'servers under short names',
    text: `
An alias is the name of a server with its keys. ALIAS/bucket/key names a place on
it; anything else is a path of this machine. Write ./mine for a folder that is
called like an alias. Keys are taken literally: a//b and ../x are keys.

  coffer alias set mine https://s3.example.com   asks for the keys
  coffer alias set mine 10.0.0.1:9000            tries https, asks before http
  coffer login mine https://s3.example.com       signs in, without keys
  coffer alias list
  coffer alias export mine > alias.json          with the secret key
  coffer alias import copy alias.json

If no known authority vouches for the certificate of a server, \`alias set\` shows
the certificate and asks once. It is kept as certs/CAs/ALIAS.crt. Scripts pass the
fingerprint of its public key: --trust FINGERPRINT. At the server it is shown by

  openssl x509 -in public.crt -noout -pubkey |
    openssl pkey -pubin -outform der | sha256sum

An alias begins with a letter, and holds letters, digits, hyphens and underscores.
COFFER_HOST_mine=https://ACCESS_KEY:SECRET_KEY@HOST in the environment defines the
alias \`mine\`, and takes precedence over the file.`,
  },
  credentials: {
    title: 'keys, single sign-on, and where secrets are kept',
    text: `
\`coffer alias set\` asks for the access key and the secret key. It reads them from
standard input where that is no terminal, a line for each, or from
COFFER_ACCESS_KEY and COFFER_SECRET_KEY. Do not write a secret on the command line:
other people of the machine and the history of the shell see it there.

\`coffer login ALIAS\` signs in by single sign-on. It opens a browser; with --device,
or where there is none, it shows a code to enter in a browser of any machine. The
server names the identity provider. The alias then has temporary credentials, which
are renewed while they are used. \`coffer logout ALIAS\` forgets them.

config.json and logins/ALIAS.json are for their owner only (0600). Whoever may read
them may act as you until the credentials expire or are revoked.

Tools of AWS take the credentials of an alias from \`coffer credentials\`. Write into
~/.aws/config:

  [profile mine]
  credential_process = coffer credentials mine
  endpoint_url = https://s3.example.com`,
  },
  policies: {
    title: 'who may do what',
    text: `
A policy is a JSON document that allows or denies actions on resources. A user may
do what a policy of the user, of a group, of the login or of the bucket allows, and
no policy denies.

  coffer admin policy list mine
  coffer admin policy create mine photos photos.json
  coffer admin policy attach mine photos --user ann
  coffer admin policy explain mine ann s3:PutObject photos/1.jpg

The built-in ones are readonly, readwrite, writeonly, diagnostics and consoleAdmin.
\`explain\` says which statement decides. An example:

  {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
    "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::photos/*"]}]}

\`coffer anonymous set download mine/photos\` lets everybody read a bucket.`,
  },
  encryption: {
    title: 'encryption at the server, and by keys of the client',
    text: `
  coffer encrypt set sse-kms KEY mine/photos   new objects, by a key of the server
  coffer encrypt set sse-s3 mine/photos        new objects, by a key that it chooses
  coffer encrypt info mine/photos
  coffer admin kms key create mine KEY

Flags for one command, each for the places under a prefix; the longest prefix
counts, and one prefix has one kind of key:

  --enc-kms mine/photos/=KEY     a key of the key service (or MC_ENC_KMS)
  --enc-s3 mine/photos/          a key of the server (or MC_ENC_S3)
  --enc-c mine/photos/=BASE64    a key of yours: 32 bytes, as base64 without
                                 padding or as 64 hexadecimal digits

Nobody can read an object whose key you lost. A key on the command line is seen by
other people of the machine.`,
  },
  sizes: {
    title: 'sizes, durations and times',
    text: `
Sizes   100, 64KiB, 5MiB, 2GiB, 1TiB (powers of 1024); KB, MB, GB (of 1000)
Durations   7d10h31s: d days, h hours, m minutes, s seconds
Times   2026.01.31, 2026.01.31T14:30, 2026.01.31T14:30:00; or a duration, which
        means so long ago

  coffer find mine/photos --larger 5MiB --newer-than 7d
  coffer ls mine/photos --rewind 2026.01.31T14:30
  coffer rm -r --force --older-than 30d mine/photos/

Times are those of this machine's time zone.`,
  },
  'exit-codes': {
    title: 'exit codes, and the output for scripts',
    text: `
  0    everything is good
  1    something failed; what is said on standard error
  130  interrupted by Ctrl-C
  143  ended by SIGTERM

A command with several arguments goes on after a failure, and then exits with 1.
\`update\` exits with 0 if the version is the newest, 1 after an update, and 255 if
it failed.

--json prints a line of JSON for each message. Every line has "status": "success" or
"error". A failure is

  {"status":"error","error":{"message":…,"cause":{"message":…,"error":{…}},
    "type":"fatal"}}

with the type "error" where the command goes on. cause.error has the Code of the
server. There is no progress bar with --json, with --quiet, or off a terminal.`,
  },
  environment: {
    title: 'variables of the environment, and files',
    text: `
  COFFER_HOST_ALIAS, MC_HOST_ALIAS   an alias: https://ACCESS_KEY:SECRET_KEY@HOST
  MC_CONFIG_ENV_FILE                 a file with lines as MC_HOST_ALIAS=URL
  MC_STS_ENDPOINT_ALIAS, MC_WEB_IDENTITY_TOKEN_FILE_ALIAS, MC_ROLE_ARN_ALIAS
                                     credentials for the token in a file
  COFFER_ACCESS_KEY, COFFER_SECRET_KEY   keys for \`alias set\`
  COFFER_CONFIG_DIR, MC_CONFIG_DIR   the folder of config.json (~/.coffer)
  COFFER_REGION, MC_REGION           the region of the server (us-east-1)
  COFFER_UPDATE_URL, COFFER_UPDATE_KEY   where \`update\` looks, and its public key
  MC_QUIET, MC_INSECURE              on: as --quiet, --insecure
  MC_DISABLE_PAGER, PAGER            no pager; the pager (less -FRX)
  MC_ENC_KMS, MC_ENC_S3              as --enc-kms, --enc-s3
  MC_UPLOAD_MULTIPART_SIZE           the size of the parts of an upload
  NO_COLOR                           no colors
  NODE_EXTRA_CA_CERTS                a file of authorities to trust

  ~/.coffer/config.json     aliases
  ~/.coffer/logins/         credentials of single sign-on
  ~/.coffer/certs/CAs/      certificates to trust
  ~/.coffer/share/          links that were made

On Windows the folder is .coffer below %HOME%, %USERPROFILE% or
%HOMEDRIVE%%HOMEPATH%, the first that is set, and certificates are in coffer\\certs.`,
  },
};
