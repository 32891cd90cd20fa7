import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { Fragment, useState, type SubmitEvent } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { useIsBucket } from '../api/buckets.ts';
import { NameText } from '../components/name-text.tsx';
import { folderUrl } from '../components/urls.ts';
import { t } from '../texts/texts.ts';
import { parsePath, pathUrl, resolvePath } from './typed-path.ts';

interface PathProps {
  readonly bucket: string;
  readonly prefix: string;
}

interface PathBarProps extends PathProps {
  /** The page shows the folder, so that another path can be typed. */
  readonly editable: boolean;
}

/** The path of the folder with a link to each parent. The last part is the title of the page. The path can also be typed. */
export function PathBar({ bucket, prefix, editable }: PathBarProps) {
  const [state, setState] = useState<'shown' | 'typing' | 'left'>('shown');
  const [search] = useSearchParams();
  if (state === 'typing') {
    const onClose = () => setState('shown');
    return <PathField bucket={bucket} prefix={prefix} onClose={onClose} onLeave={() => setState('left')} />;
  }
  const steps = [{ name: bucket, prefix: '' }];
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1)) {
    const here = prefix.slice(0, at + 1);
    // A key may have empty parts, which need a visible name.
    steps.push({ name: here.slice(steps.at(-1)?.prefix.length, -1) || t.objects.emptyName, prefix: here });
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
      {editable && (
        <Tooltip label={t.objects.typeAPathOrKey}>
          {/* Escape in the field brings the focus back to this button. */}
          <ActionIcon
            size="sm"
            autoFocus={state === 'left'}
            aria-label={t.objects.typeAPathOrKey}
            onClick={() => setState('typing')}
          >
            <IconPencil size={14} />
          </ActionIcon>
        </Tooltip>
      )}
    </nav>
  );
}

interface PathFieldProps extends PathProps {
  readonly onClose: () => void;
  /** Called instead of `onClose` after Escape. */
  readonly onLeave: () => void;
}

function PathField({ bucket, prefix, onClose, onLeave }: PathFieldProps) {
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const isBucket = useIsBucket();
  const [path, setPath] = useState(`${bucket}/${prefix}`);

  async function open(): Promise<void> {
    const typed = parsePath(path, bucket);
    const known = typed.kind === 'unclear' && (await isBucket(typed.bucket));
    onClose();
    await navigate(pathUrl(resolvePath(typed, bucket, known), search.get('at')));
  }

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void open();
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
          if (event.key === 'Escape') onLeave();
        }}
        onBlur={onClose}
      />
    </form>
  );
}
