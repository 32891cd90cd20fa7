/** Returns a path that the expression of a route of the admin API takes: the first of each choice, and `x` for a name. */
export function samplePath({ source }: RegExp): string {
  let path = source.replace(/^\^|\$$/g, '').replaceAll('\\/', '/');
  path = path.replaceAll('[34]', '3').replaceAll('[^/]+', 'x').replaceAll('/?', '').replaceAll('.*', '');
  for (let before = ''; before !== path;) {
    before = path;
    path = path.replace(/\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)\??/, '$1');
  }
  return path;
}
