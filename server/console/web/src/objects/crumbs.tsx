import { Fragment } from 'react';
import { Link } from 'react-router';
import { folderUrl } from './places.ts';

interface CrumbsProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** Where the person is, each step a way back; the last is the title of the page. */
export function Crumbs({ bucket, prefix }: CrumbsProps) {
  const steps = [{ name: bucket, prefix: '' }];
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1)) {
    const here = prefix.slice(0, at + 1);
    // A key may have empty parts: their step must still be seen.
    steps.push({ name: here.slice(steps.at(-1)?.prefix.length, -1) || '(empty)', prefix: here });
  }
  return (
    <nav className="crumbs" aria-label="Folder">
      <Link to="/buckets">Buckets</Link>
      {steps.map((step, index) => (
        <Fragment key={step.prefix}>
          <span className="slash" aria-hidden>
            /
          </span>
          {index === steps.length - 1 ? (
            <h1 aria-current="page">{step.name}</h1>
          ) : (
            <Link to={folderUrl(bucket, step.prefix)}>{step.name}</Link>
          )}
        </Fragment>
      ))}
    </nav>
  );
}
