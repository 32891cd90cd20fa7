import { Router, type Request, type Response } from 'express';
import type { TransferList, TransferRow } from '../../../../protocol/console/transfer-answers.ts';
import { targetKey, transferIssue } from '../../../../protocol/console/transfer-target.ts';
import { transferForm } from '../../transfers/transfer.ts';
import type { Transfers } from '../../transfers/transfers.ts';
import { type Authorizer, readForm } from '../authorize.ts';
import { queryText } from '../query.ts';
import { auditOf } from '../request-audit.ts';
import { originOf } from '../request-source.ts';
import { currentSession } from '../sign-in/current-session.ts';
import { consoleError } from '../console-error.ts';

/**
 * Copies and moves of objects and folders in the background. The server authorizes each object when its turn comes; the first check here
 * spares a user without any right the wait.
 */
export function transferRoutes(transfers: Transfers, authorizer: Authorizer): Router {
  const router = Router();

  router.get('/transfers', async (_request, response) => {
    response.json({ transfers: await transfers.list(currentSession(response)) } satisfies TransferList);
  });

  router.post('/transfers', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.requireForSome(exchange, 's3:PutObject');
    const form = await readForm(exchange, transferForm);
    auditOf(response)?.setOperation('ConsoleStartTransfer', { bucket: form.bucket });
    const issue = transferIssue(form);
    if (issue !== undefined) throw consoleError('BadRequest', issue);
    const [entry = '', ...others] = [...form.objects, ...form.folders];
    const below = `${form.target.bucket}/${others.length > 0 ? form.target.prefix : targetKey(form, entry, entry)}`;
    if (!(await authorizer.allowsSome(exchange, 's3:PutObject', below))) {
      await authorizer.require(exchange, 's3:PutObject', `${below}*`);
    }
    const row = await transfers.start(form, currentSession(response), originOf(request));
    response.status(201).json(row satisfies TransferRow);
  });

  router.delete('/transfers', async (request, response) => {
    await transfers.end(currentSession(response), queryText(request, 'id'));
    response.status(204).end();
  });

  return router;
}
