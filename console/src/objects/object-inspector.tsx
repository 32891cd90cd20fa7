import { Badge, Button, CloseButton, Drawer, Group, Menu, Stack, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useRef } from 'react';
import { IconChevronDown, IconDownload, IconLock, IconShare } from '@tabler/icons-react';
import { DeleteButton } from '../components/edit-buttons.tsx';
import type { ObjectDetails } from '../../../protocol/console/answers.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { download, shareLink, useObject } from '../api/objects.ts';
import { useBucketRights, useObjectRights, type KeyRights } from '../api/rights.ts';
import { useSession } from '../api/session.ts';
import { Fact, Facts } from '../components/detail-page.tsx';
import { CopyText } from '../components/copy-text.tsx';
import { Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { usePanelFocus } from '../components/kept-focus.ts';
import { LoadingRows } from '../components/list-page.tsx';
import { NameText } from '../components/name-text.tsx';
import { formatBytes, formatExactTime } from '../text/format.ts';
import { copyAs, curlOf } from './copy-as.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { nameIn } from '../components/urls.ts';
import { ObjectProperties } from './object-properties.tsx';
import { Preview } from './preview/preview.tsx';
import { ShareDialog } from './share-dialog.tsx';
import { VersionList } from './version-list.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface ObjectInspectorProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly objectKey: string;
  readonly onClose: () => void;
}

/** The details of an object: next to the rows in a wide window, else in a drawer. */
export function ObjectInspector({ bucket, prefix, objectKey, onClose }: ObjectInspectorProps) {
  const beside = useMediaQuery('(min-width: 68em)', window.innerWidth >= 1088);
  const name = nameIn(prefix, objectKey);
  const details = <Inspected key={objectKey} bucket={bucket} objectKey={objectKey} onClose={onClose} />;
  const panel = useRef<HTMLElement>(null);
  usePanelFocus(panel, objectKey);
  if (!beside) {
    return (
      <Drawer
        opened
        onClose={onClose}
        size={460}
        title={<Name text={name} />}
        closeButtonProps={{ 'aria-label': t.objectDetails.closeDetails }}
      >
        {details}
      </Drawer>
    );
  }
  return (
    <aside
      className="inspector"
      aria-label={say(t.objectDetails.detailsOf, { name })}
      ref={panel}
      tabIndex={-1}
      onKeyDown={(event) => {
        // Menus and dialogs, which React counts as parts of the panel, and fields take their own Escape.
        const { target, currentTarget } = event;
        if (!(target instanceof Element) || !currentTarget.contains(target)) return;
        if (event.key === 'Escape' && !target.matches('input, textarea')) onClose();
      }}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm">
        <Name text={name} />
        <CloseButton size="sm" aria-label={t.objectDetails.closeDetails} onClick={onClose} />
      </Group>
      {details}
    </aside>
  );
}

function Name({ text }: { readonly text: string }) {
  return (
    <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
      <NameText name={text} max={200} />
    </Text>
  );
}

interface InspectedProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
}

function Inspected({ bucket, objectKey, onClose }: InspectedProps) {
  const object = useObject(bucket, objectKey);
  const rights = useObjectRights(bucket, objectKey);
  const listsVersions = useBucketRights(bucket).bucket('s3:ListBucketVersions');
  // A key whose newest version is a delete marker has no details, and has versions.
  const isDeleted = object.error instanceof ResponseError && object.error.status === 404;
  const [tab, setTab] = useDraft<string | null>('tab', 'details');
  if (object.isPending) return <LoadingRows height={220} />;
  const versions = <VersionList bucket={bucket} objectKey={objectKey} rights={rights} />;
  if (object.isError) {
    return (
      <Stack gap="md">
        {isDeleted && listsVersions ? (
          <>
            <Text size="sm">{t.objectDetails.thereIsNoCurrentObjectWithThis}</Text>
            {versions}
          </>
        ) : (
          <Failure what={t.objectDetails.thisObjectCannotBeShown} error={object.error} retry={object.refetch} />
        )}
      </Stack>
    );
  }
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="details">{t.objectDetails.details}</Tabs.Tab>
        <Tabs.Tab value="properties">{t.objectDetails.properties}</Tabs.Tab>
        {listsVersions && <Tabs.Tab value="versions">{t.objectDetails.versions}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="details">
        <Stack gap="md">
          <Preview bucket={bucket} object={object.data} />
          <Actions bucket={bucket} object={object.data} rights={rights} onClose={onClose} />
          <ObjectFacts bucket={bucket} object={object.data} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="properties">
        <ObjectProperties bucket={bucket} object={object.data} rights={rights} />
      </Tabs.Panel>
      <Tabs.Panel value="versions">{versions}</Tabs.Panel>
    </Tabs>
  );
}

interface ActionsProps {
  readonly bucket: string;
  readonly object: ObjectDetails;
  readonly rights: KeyRights;
  readonly onClose: () => void;
}

function Actions({ bucket, object, rights, onClose }: ActionsProps) {
  const [dialog, setDialog] = useDraft<'delete' | 'share' | undefined>('inspector', undefined);
  const { s3Url } = useSession().data ?? {};
  const { key } = object;

  return (
    <div className="object-actions">
      {rights.may('s3:GetObject') && (
        <Button
          leftSection={<IconDownload size={16} />}
          onClick={() => {
            download(bucket, key).catch((error: Error) => {
              notifyFailure(t.objectDetails.theObjectCannotBeDownloaded, error);
            });
          }}
        >
          {t.labels.download}
        </Button>
      )}
      {rights.may('s3:GetObject') && (
        <Button variant="default" leftSection={<IconShare size={16} />} onClick={() => setDialog('share')}>
          {t.objectDetails.share}
        </Button>
      )}
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={14} />}>
            {t.objectDetails.copyAs}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {copyAs(bucket, key, s3Url).map(({ name, text }) => (
            <Menu.Item key={name} onClick={() => void copy(text, name)}>
              {name}
            </Menu.Item>
          ))}
          {rights.may('s3:GetObject') && (
            <Menu.Item onClick={() => void copyCurl(bucket, key)}>{t.objectDetails.curlForAnHour}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {rights.may('s3:DeleteObject') && <DeleteButton label={t.labels.delete} onClick={() => setDialog('delete')} />}
      {dialog === 'delete' && (
        <DeleteDialog
          bucket={bucket}
          deletion={{ keys: [key], folders: [] }}
          onClose={() => setDialog(undefined)}
          onDeleted={onClose}
        />
      )}
      {dialog === 'share' && <ShareDialog bucket={bucket} objectKey={key} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

/** Copies a command with a presigned link. */
async function copyCurl(bucket: string, key: string): Promise<void> {
  try {
    const { url } = await shareLink(bucket, { key, method: 'GET', seconds: '3600' });
    await copy(curlOf(url, 'GET'), t.objectDetails.curlForAnHour);
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    notifyFailure(t.objectDetails.noLinkCanBeMade, error);
  }
}

async function copy(text: string, name: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifyDone(say(t.objectDetails.copied, { name }));
  } catch {
    notifyFailure(t.objectDetails.theBrowserDoesNotLetThisPage, new Error(text));
  }
}

function ObjectFacts({ bucket, object }: { readonly bucket: string; readonly object: ObjectDetails }) {
  return (
    <Facts>
      <Fact name={t.objectDetails.key}>
        <CopyText text={object.key} />
      </Fact>
      <Fact name={t.labels.address}>
        <CopyText text={`s3://${bucket}/${object.key}`} />
      </Fact>
      <Fact name={t.labels.size}>
        {formatBytes(object.size)}
        {object.size >= 1024 && (
          <Text span size="sm" c="dimmed">
            {' '}
            {say(t.objectDetails.bytes, { size: object.size })}
          </Text>
        )}
      </Fact>
      <Fact name={t.objectDetails.modified}>
        <time dateTime={object.lastModified}>{formatExactTime(object.lastModified)}</time>
      </Fact>
      <Fact name={t.objectDetails.contentType}>{object.contentType}</Fact>
      <Fact name={t.objectDetails.encryption}>
        {object.encryption === undefined ? (
          t.labels.none
        ) : (
          <Badge leftSection={<IconLock size={11} />}>{object.encryption.scheme}</Badge>
        )}
      </Fact>
      {object.encryption?.scheme === 'SSE-KMS' && (
        <Fact name={t.objectDetails.keyName}>
          <span className="mono">{object.encryption.keyName}</span>
        </Fact>
      )}
      <Fact name={t.objectDetails.etag}>
        <CopyText text={object.etag} />
      </Fact>
      {object.checksum !== undefined && (
        <Fact name={object.checksum.algorithm}>
          <CopyText text={object.checksum.value} />
        </Fact>
      )}
      <Fact name={t.objectDetails.parts}>{object.parts}</Fact>
      <Fact name={t.objectDetails.storageClass}>{object.storageClass}</Fact>
    </Facts>
  );
}
