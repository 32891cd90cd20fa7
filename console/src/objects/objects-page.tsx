import { Badge, Button, Group, Menu, Stack, Tooltip } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconChevronDown, IconFile, IconFolder, IconFolderPlus, IconLink, IconSettings } from '@tabler/icons-react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { useBucket } from '../api/buckets.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { useBucketRights, type FolderRights } from '../api/rights.ts';
import { EncryptionBadge } from '../buckets/bucket-encryption.tsx';
import { Failure } from '../components/feedback.tsx';
import { settingsUrl } from '../components/urls.ts';
import { FolderDialog } from './folder-dialog.tsx';
import { ObjectBrowser } from './object-browser.tsx';
import { ObjectInspector } from './object-inspector.tsx';
import { PathBar } from './path-bar.tsx';
import { ShareDialog } from './share-dialog.tsx';
import { keyOf, uploads } from '../uploads/uploads.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** A folder of a bucket. If the URL names an object, its details are open. */
export function ObjectsPage() {
  const { bucket = '' } = useParams();
  const [search] = useSearchParams();
  const prefix = search.get('prefix') ?? '';
  const object = search.get('object');
  const navigate = useNavigate();
  const details = useBucket(bucket, prefix);
  const rights = useBucketRights(bucket, prefix);
  useDocumentTitle(`${bucket}/${prefix} · Coffer`);

  function closeDetails(): void {
    const next = new URLSearchParams(search);
    next.delete('object');
    void navigate(`/buckets/${encodeURIComponent(bucket)}${next.size === 0 ? '' : `?${next}`}`);
  }

  const isAbsent = details.error instanceof ResponseError && details.error.status === 404;
  const looksOnly = rights.known && !rights.some('s3:PutObject') && !rights.some('s3:DeleteObject');
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" mih={36}>
        <Group gap="sm" mih={36} miw={0} flex="1 1 260px">
          <PathBar key={`${bucket}/${prefix}`} bucket={bucket} prefix={prefix} editable={!isAbsent} />
          {details.data?.encryption !== undefined && details.data.encryption.scheme !== 'unknown' && (
            <EncryptionBadge encryption={details.data.encryption} />
          )}
          {looksOnly && (
            <Tooltip label={t.objects.toChangeObjectsHereYouNeedS3}>
              <Badge color="gray" tabIndex={0}>
                {t.objects.lookOnly}
              </Badge>
            </Tooltip>
          )}
        </Group>
        {!isAbsent && <FolderButtons bucket={bucket} prefix={prefix} rights={rights} past={search.has('at')} />}
      </Group>
      {details.isLoadingError ? (
        <Failure what={say(t.objects.cannotBeShown, { bucket })} error={details.error} retry={details.refetch} />
      ) : (
        <div className="with-inspector">
          <ObjectBrowser
            key={`${bucket}/${prefix}`}
            bucket={bucket}
            prefix={prefix}
            selected={object}
            rights={rights}
          />
          {object !== null && (
            <ObjectInspector bucket={bucket} prefix={prefix} objectKey={object} onClose={closeDetails} />
          )}
        </div>
      )}
    </Stack>
  );
}

interface FolderButtonsProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly rights: FolderRights;
  /** The folder is shown as it was at a moment. */
  readonly past: boolean;
}

/** The buttons of a folder: those that the user may press. */
function FolderButtons({ bucket, prefix, rights, past }: FolderButtonsProps) {
  const [dialog, setDialog] = useDraft<'folder' | 'request' | undefined>('dialog', undefined);

  async function upload(kind: 'files' | 'folder'): Promise<void> {
    const files = await pickFiles(kind);
    uploads.add(
      bucket,
      files.map((file) => ({ key: keyOf(prefix, file), file })),
    );
  }

  return (
    <Group gap={6}>
      <Button component={Link} to={settingsUrl(bucket)} variant="default" leftSection={<IconSettings size={15} />}>
        {t.labels.settings}
      </Button>
      {!past && rights.here('s3:PutObject') && (
        <>
          <Button variant="default" leftSection={<IconFolderPlus size={15} />} onClick={() => setDialog('folder')}>
            {t.objects.folderDialog}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button rightSection={<IconChevronDown size={15} />}>{t.objects.upload}</Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconFile size={15} />} onClick={() => void upload('files')}>
                {t.objects.files}
              </Menu.Item>
              <Menu.Item leftSection={<IconFolder size={15} />} onClick={() => void upload('folder')}>
                {t.objects.aFolder}
              </Menu.Item>
              <Menu.Item leftSection={<IconLink size={15} />} onClick={() => setDialog('request')}>
                {t.objects.aLinkForAnUpload}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
      {dialog === 'folder' && <FolderDialog bucket={bucket} prefix={prefix} onClose={() => setDialog(undefined)} />}
      {dialog === 'request' && (
        <ShareDialog bucket={bucket} objectKey={prefix} uploadOnly onClose={() => setDialog(undefined)} />
      )}
    </Group>
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
