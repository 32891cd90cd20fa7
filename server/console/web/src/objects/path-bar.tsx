import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { Fragment, useState, type SubmitEvent } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { NameText } from '../components/name-text.tsx';
import { folderUrl, objectUrl } from '../components/urls.ts';
import { t } from '../texts/texts.ts';

interface PathBarProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** The path of the folder with a link to each parent. The last part is the title of the page. The path can also be typed. */
export function PathBar({ bucket, prefix }: PathBarProps) {
  const [typing, setTyping] = useState(false);
  const [search] = useSearchParams();
  if (typing) return <PathField bucket={bucket} prefix={prefix} onClose={() => setTyping(false)} />;
  const steps = [{ name: bucket, prefix: '' }];
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1)) {
    const here = prefix.slice(0, at + 1);
    // A key may have empty parts, which need a visible name.
    steps.push({ name: here.slice(steps.at(-1)?.prefix.length, -1) || '(empty)', prefix: here });
  }
  return (
    <nav className="crumbs" aria-label={t.objects.folder}>
      <Link to="/buckets">{t.labels.buckets}</Link>
      {steps.map((step, index) => (
        <Fragment key={step.prefix}>
          <span className="slash" aria-hidden>
            /
          </span>
          {index === steps.length - 1 ? (
            <h1 aria-current="page">
              <NameText name={step.name} max={60} />
            </h1>
          ) : (
            <Link to={folderUrl(bucket, step.prefix, search.get('at'))}>
              <NameText name={step.name} max={40} />
            </Link>
          )}
        </Fragment>
      ))}
      <Tooltip label={t.objects.typeAPathOrKey}>
        <ActionIcon size="sm" aria-label={t.objects.typeAPathOrKey} onClick={() => setTyping(true)}>
          <IconPencil size={14} />
        </ActionIcon>
      </Tooltip>
    </nav>
  );
}

interface PathFieldProps extends PathBarProps {
  readonly onClose: () => void;
}

function PathField({ bucket, prefix, onClose }: PathFieldProps) {
  const navigate = useNavigate();
  const [path, setPath] = useState(`${bucket}/${prefix}`);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onClose();
    void navigate(pathUrl(path));
  }

  return (
    <form onSubmit={submit} style={{ flex: 1, minWidth: 200 }}>
      <TextInput
        aria-label={t.objects.pathOrKey}
        description={t.objects.aFolderEndsInASlashEnter}
        className="mono-input"
        autoFocus
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
        }}
        onBlur={onClose}
      />
    </form>
  );
}

/** The page of a typed path: a bucket, a folder that ends in a slash, or an object. `s3://` in front is left out. */
export function pathUrl(path: string): string {
  const bare = path
    .trim()
    .replace(/^s3:\/\//, '')
    .replace(/^\/+/, '');
  const slash = bare.indexOf('/');
  if (slash < 0) return bare === '' ? '/buckets' : folderUrl(bare, '');
  const [bucket, key] = [bare.slice(0, slash), bare.slice(slash + 1)];
  if (key === '' || key.endsWith('/')) return folderUrl(bucket, key);
  return objectUrl(bucket, key.slice(0, key.lastIndexOf('/') + 1), key);
}
