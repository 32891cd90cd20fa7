// What stays a package in the image, and is not bundled with the programs (bundle.js): native code, and what reads files next to its
// own, as Google's client does.
export const keptPackages = ['lmdb', '@google-cloud/secret-manager', 'google-auth-library'];
