import { Badge, Button, Group, Menu, Stack, Tooltip } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconChevronDown, IconFile, IconFolder, IconLock, IconTrash } from '@tabler/icons-react';
import { useState, Fragment } from 'react';
import { useNavigate, useParams, useSearchParams, Link } from 'react-router';
import { useBucket } from '../api/buckets.ts';
import { DeleteBucketDialog } from '../buckets/bucket-dialogs.tsx';
import { EncryptionBadge, EncryptionDialog } from '../buckets/bucket-encryption.tsx';
import { Failure } from '../components/feedback.tsx';
import { ObjectBrowser } from './object-browser.tsx';
import { ObjectInspector } from './object-inspector.tsx';
import { folderUrl } from '../components/urls.ts';
import { keyOf, uploads } from '../uploads/uploads.ts';

/** A folder of a bucket. If the URL names an object, its details are open. */
export function ObjectsPage() {
  const { bucket = '' } = useParams();
  const [search] = useSearchParams();
  const prefix = search.get('prefix') ?? '';
  const object = search.get('object');
  const navigate = useNavigate();
  const details = useBucket(bucket, prefix);
  const [dialog, setDialog] = useState<'delete' | 'encryption'>();
  useDocumentTitle(`${bucket}/${prefix} · Coffer`);

  async function upload(kind: 'files' | 'folder'): Promise<void> {
    const files = await pickFiles(kind);
    uploads.add(
      bucket,
      files.map((file) => ({ key: keyOf(prefix, file), file })),
    );
  }

  const may = details.data?.may;
  return (
    <Stack gap="md">
      <Group justify="space-between" wrap="nowrap" align="flex-start" mih={36}>
        <Group gap="sm" mih={36} miw={0}>
          <Crumbs bucket={bucket} prefix={prefix} />
          {details.data?.encryption !== undefined && details.data.encryption.scheme !== 'unknown' && (
            <EncryptionBadge encryption={details.data.encryption} />
          )}
          {may !== undefined && !may.write && !may.delete && (
            <Tooltip label="Your policies do not allow s3:PutObject or s3:DeleteObject on everything in here.">
              <Badge color="gray">look only</Badge>
            </Tooltip>
          )}
        </Group>
        <Group gap="xs" wrap="nowrap">
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={15} />}>
                Bucket
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconLock size={15} />} onClick={() => setDialog('encryption')}>
                Default encryption…
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={() => setDialog('delete')}>
                Delete bucket…
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button rightSection={<IconChevronDown size={15} />}>Upload</Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconFile size={15} />} onClick={() => void upload('files')}>
                Files…
              </Menu.Item>
              <Menu.Item leftSection={<IconFolder size={15} />} onClick={() => void upload('folder')}>
                A folder…
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
      {details.isError ? (
        <Failure what={`${bucket} cannot be shown`} error={details.error} retry={details.refetch} />
      ) : (
        <div className="with-inspector">
          <ObjectBrowser key={`${bucket}/${prefix}`} bucket={bucket} prefix={prefix} selected={object} />
          {object !== null && (
            <ObjectInspector
              bucket={bucket}
              prefix={prefix}
              objectKey={object}
              onClose={() => void navigate(folderUrl(bucket, prefix))}
            />
          )}
        </div>
      )}
      {dialog === 'delete' && (
        <DeleteBucketDialog
          bucket={bucket}
          onClose={() => setDialog(undefined)}
          onDeleted={() => void navigate('/buckets')}
        />
      )}
      {dialog === 'encryption' && details.data !== undefined && (
        <EncryptionDialog bucket={details.data} onClose={() => setDialog(undefined)} />
      )}
    </Stack>
  );
}

interface CrumbsProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** The path of the folder with a link to each parent. The last part is the title of the page. */
function Crumbs({ bucket, prefix }: CrumbsProps) {
  const steps = [{ name: bucket, prefix: '' }];
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1)) {
    const here = prefix.slice(0, at + 1);
    // A key may have empty parts, which need a visible name.
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

/** Opens the file dialog of the browser. Returns no files if the user cancels. */
function pickFiles(kind: 'files' | 'folder'): Promise<readonly File[]> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.webkitdirectory = kind === 'folder';
  return new Promise((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]), { once: true });
    input.addEventListener('cancel', () => resolve([]), { once: true });
    input.click();
  });
}
