import { Router } from 'express';
import type { SessionList, SessionRow } from '../../../../protocol/console/operations-answers.ts';
import { S3Error } from '../../../../protocol/s3/s3-error.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer } from '../authorize.ts';
import { listPage, listQuery, queryText } from '../query.ts';
import { currentSession } from './current-session.ts';
import type { ListedSession, SignInSessions } from './sign-in-sessions.ts';
import { consoleError } from '../console-error.ts';

/** Sessions of the console: administrators see all of them and end them. */
export function sessionListRoutes(
  { administration }: Pick<ConsoleServices, 'administration'>,
  sessions: SignInSessions,
  authorizer: Authorizer,
): Router {
  const { root, temporary } = administration;
  const router = Router();

  router.get('/sessions', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ListSessions', '');
    const { fits, page } = listQuery(request);
    const own = currentSession(response).id;
    const { rows, next } = await listPage<ListedSession, SessionRow>(sessions.list(), {
      ...page,
      position: ({ id }) => id,
      fits: ({ name, accessKey }) => fits(name, accessKey),
      toRow: (session) => rowOf(session, own),
    });
    response.json({ sessions: rows, ...(next === undefined ? {} : { next }) } satisfies SessionList);
  });

  router.delete('/sessions', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:RevokeSession', '');
    const session = await sessions.one(queryText(request, 'id'));
    if (session === undefined) throw consoleError('NotFound', 'There is no such session any more.');
    const { principal } = currentSession(response).credentials;
    if (session.accessKey === root.user && principal.kind !== 'root') {
      throw new S3Error('AccessDenied', 'Only root ends the sessions of root.');
    }
    await sessions.end(session.id);
    // These credentials were made for the session.
    if (session.signedInBy.kind !== 'keys') await temporary.revoke(session.accessKey);
    response.status(204).end();
  });

  return router;
}

function rowOf({ id, accessKey, name, signedInBy, signedInAt, expires }: ListedSession, own: string): SessionRow {
  return {
    id,
    name: name ?? accessKey,
    accessKey,
    signedInBy,
    signedInAt: signedInAt.toISOString(),
    expires: expires.toISOString(),
    own: id === own,
  };
}
