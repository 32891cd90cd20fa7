const noDrives = 'Coffer has no drives to heal, drain or fill evenly; stock mc does it for a MinIO';
const company = 'it sends data to a company, or needs an account there; this client sends nothing anywhere';
const replay = 'it shows a file that `mc` has saved before; the lines of --json are for programs';

/** Commands that the help of stock mc shows, and that `coffer` refuses as unknown, with the reasons. */
export const absentCommands: Readonly<Record<string, string>> = {
  'admin decom': noDrives,
  'admin decommission': noDrives,
  'admin decommission cancel': noDrives,
  'admin decommission start': noDrives,
  'admin decommission status': noDrives,
  'admin heal': noDrives,
  'admin rebalance': noDrives,
  'admin rebalance start': noDrives,
  'admin rebalance status': noDrives,
  'admin rebalance stop': noDrives,
  'admin update': 'a server is replaced by its image or its package, and not by a download that a client starts',
  'support callhome': company,
  'support proxy': company,
  'support proxy remove': company,
  'support proxy set': company,
  'support proxy show': company,
  'support register': company,
  'support upload': company,
};

/** Flags of stock mc that `coffer` refuses by name, with the reasons. */
export const absentFlags: Readonly<Record<string, string>> = {
  '--autocompletion': '`coffer completion SHELL` prints the script; it changes no file of the shell by itself',
  'admin scanner status --in': replay,
  'admin scanner status --max-paths': 'it shortens a screen of mc; here each report is a document',
  'admin trace --in': replay,
  'admin trace --stats': 'it is a screen that mc redraws; `--json` has what it counts',
  'anonymous --recursive': 'it stands after the command: `anonymous links --recursive`',
  'anonymous -r': 'it stands after the command: `anonymous links -r`',
  'batch cancel --id': 'mc does not read it; the job is an argument',
  'license info --api-key': company,
  'license register --api-key': company,
  'license register --license': company,
  'license register --name': company,
  'support diag --api-key': company,
  'support inspect --api-key': company,
  'support inspect --legacy': 'it is the format of servers before 2023',
  'support perf --api-key': company,
  'support profile --api-key': company,
  'support top rpc --in': replay,
};
