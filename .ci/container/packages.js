// What stays a package in the image, and is not bundled with the programs (bundle.js): native code, what starts threads from files of
// its own, and what reads files beside its own, as Google's client does.
export const keptPackages = ['lmdb', 'pino', '@google-cloud/secret-manager', 'google-auth-library'];
