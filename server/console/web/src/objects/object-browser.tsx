import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFolderOpen, IconTrash, IconUpload, IconX } from '@tabler/icons-react';
import { useState, type SubmitEvent } from 'react';
import { ApiError } from '../api/call.ts';
import { useObjects, type Deletion } from '../api/objects.ts';
import { Empty, Failure } from '../components/feedback.tsx';
import { LoadingRows, MoreRows } from '../components/list-page.tsx';
import { keyOf, uploads } from '../uploads/uploads.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { ObjectTable } from './object-table.tsx';
import { useNavigate } from 'react-router';
import { objectUrl } from '../components/urls.ts';

interface ObjectBrowserProps {
  readonly bucket: string;
  readonly prefix: string;
  /** The key of the object whose details are open. */
  readonly selected: string | null;
}

/** The rows of a folder, which are loaded page by page as the user scrolls. It uploads files that are dropped on the page. */
export function ObjectBrowser({ bucket, prefix, selected }: ObjectBrowserProps) {
  const listing = useObjects(bucket, prefix);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [deletion, setDeletion] = useState<Deletion>();
  const folders = listing.data?.pages.flatMap((page) => page.folders) ?? [];
  const objects = listing.data?.pages.flatMap((page) => page.objects) ?? [];
  const empty = listing.isSuccess && folders.length + objects.length === 0;

  if (listing.isPending) return <LoadingRows />;
  if (listing.isError && listing.data === undefined) {
    return (
      <Stack gap="md" maw={640}>
        <Failure what="This folder cannot be listed" error={listing.error} retry={listing.refetch} />
        {listing.error instanceof ApiError && listing.error.status === 403 && (
          <OpenByKey bucket={bucket} prefix={prefix} />
        )}
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {marked.size > 0 && (
        <Group gap="xs" role="toolbar" aria-label="Marked rows">
          <Text size="sm" fw={550}>
            {marked.size} marked
          </Text>
          <Button
            size="compact-sm"
            variant="light"
            color="red"
            leftSection={<IconTrash size={14} />}
            onClick={() => setDeletion(deletionOf(marked))}
          >
            Delete…
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            leftSection={<IconX size={14} />}
            onClick={() => setMarked(new Set())}
          >
            Clear
          </Button>
        </Group>
      )}
      {empty ? (
        <div className="rows">
          <Empty icon={<IconFolderOpen size={34} stroke={1.3} />} title="Nothing in here">
            Drop files or folders anywhere on this page, or use Upload.
          </Empty>
        </div>
      ) : (
        <ObjectTable
          bucket={bucket}
          prefix={prefix}
          folders={folders}
          objects={objects}
          selected={selected}
          marked={marked}
          onMark={setMarked}
          onDelete={setDeletion}
        />
      )}
      <MoreRows list={listing} shown={folders.length + objects.length} />
      <Dropzone.FullScreen
        active
        multiple
        onDrop={(files) =>
          uploads.add(
            bucket,
            files.map((file) => ({ key: keyOf(prefix, file), file })),
          )
        }
      >
        <Group justify="center" mih={220} gap="md" style={{ pointerEvents: 'none' }}>
          <IconUpload size={36} stroke={1.4} aria-hidden />
          <div>
            <Text fw={600}>Drop to upload</Text>
            <Text size="sm" c="dimmed">
              into {bucket}/{prefix}
            </Text>
          </div>
        </Group>
      </Dropzone.FullScreen>
      {deletion !== undefined && (
        <DeleteDialog
          bucket={bucket}
          deletion={deletion}
          onClose={() => setDeletion(undefined)}
          onDeleted={() => setMarked(new Set())}
        />
      )}
    </Stack>
  );
}

function deletionOf(marked: ReadonlySet<string>): Deletion {
  const names = [...marked];
  return { keys: names.filter((name) => !name.endsWith('/')), folders: names.filter((name) => name.endsWith('/')) };
}

interface OpenByKeyProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** Opens an object for a user who may read objects and not list them, as with the policy `readonly`. */
function OpenByKey({ bucket, prefix }: OpenByKeyProps) {
  const navigate = useNavigate();
  const [key, setKey] = useState(prefix);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void navigate(objectUrl(bucket, prefix, key));
  }

  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          flex={1}
          label="Open an object by its key"
          description="You may be allowed to read objects whose names you know."
          required
          withAsterisk={false}
          spellCheck={false}
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Open
        </Button>
      </Group>
    </form>
  );
}
