import { DeliveryError } from '../../outbox/delivery-error.ts';
import { numberOf, type NotificationTarget, type TargetValues, textOf } from '../target.ts';
import { openWebService } from '../web-service.ts';

/** Posts each event to a web service, as MinIO does. */
export function openWebhook(values: TargetValues): NotificationTarget {
  const authorization = authorizationOf(textOf(values, 'auth_token'));
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
  const service = openWebService(textOf(values, 'endpoint') ?? '', values, numberOf(values, 'http_timeout') ?? 5_000);
  return {
    async send({ body }) {
      const { status } = await service.request({ method: 'POST', headers, body });
      if (status >= 200 && status < 300) return;
      const isRejected = status === 400 || status === 413 || status === 422;
      throw new DeliveryError(isRejected ? 'rejected' : 'unavailable', `it answered ${status}`, { status });
    },
    close: () => service.close(),
    isSeparate: true,
  };
}

/** One word is a token of the scheme Bearer, as in MinIO. */
function authorizationOf(token: string | undefined): string | undefined {
  return token === undefined || token.trim().includes(' ') ? token : `Bearer ${token.trim()}`;
}
