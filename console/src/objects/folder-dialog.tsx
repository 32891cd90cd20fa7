import { TextInput } from '@mantine/core';
import { useNavigate } from 'react-router';
import { objectsChanged } from '../api/changes.ts';
import { createFolder } from '../api/folders.ts';
import { useApiMutation } from '../api/queries.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { folderUrl } from '../components/urls.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface FolderDialogProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly onClose: () => void;
}

/** Creates a folder: an empty object whose key ends in a slash. */
export function FolderDialog({ bucket, prefix, onClose }: FolderDialogProps) {
  const navigate = useNavigate();
  const [name, setName] = useDraft('folder.name', '');
  const folder = `${prefix}${name.replace(/^\/+|\/+$/g, '')}/`;
  const create = useApiMutation(() => createFolder(bucket, folder), []);
  return (
    <FormDialog
      title={t.objects.createAFolder}
      submit={t.objects.createFolder}
      pending={create.isPending}
      error={create.error}
      onSubmit={() =>
        create.mutate(undefined, {
          onSuccess: () => {
            objectsChanged(bucket);
            onClose();
            void navigate(folderUrl(bucket, folder));
          },
        })
      }
      onClose={onClose}
    >
      <TextInput
        label={t.labels.name}
        description={t.objects.s3HasNoFoldersThisCreatesAn}
        required
        withAsterisk={false}
        data-autofocus
        spellCheck={false}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
