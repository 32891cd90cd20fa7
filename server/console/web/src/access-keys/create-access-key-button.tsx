import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { NewAccessKeyAnswer } from '../../../contract/access-key-answers.ts';
import { useSession } from '../api/session.ts';
import { CredentialsDialog } from '../shell/credentials-dialog.tsx';
import { CreateAccessKeyDialog } from './create-access-key-dialog.tsx';

/** For oneself, or for the user named. */
export function CreateAccessKeyButton({ owner }: { readonly owner?: string }) {
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewAccessKeyAnswer>();
  const s3Url = useSession().data?.s3Url;
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
        Create access key
      </Button>
      {creating && (
        <CreateAccessKeyDialog
          {...(owner === undefined ? {} : { owner })}
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setMade(key);
          }}
        />
      )}
      {made !== undefined && (
        <CredentialsDialog
          title="The access key is created"
          credentials={made}
          s3Url={s3Url}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  );
}
