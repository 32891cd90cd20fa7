// `npm pack` of a checkout would make a package of the sources, without the packages and the console that they need.
process.stderr.write(
  'npm pack: a package of this checkout would not run. `bash .ci/release build` makes the one that does, in dist/release.\n',
);
process.exitCode = 1;
