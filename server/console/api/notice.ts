import type { Request, Response } from 'express';
import { readCookie, serializeCookie } from './cookies.ts';

const noticeCookie = 'coffer_notice';
const longest = 1500;
const lifetimeSeconds = 120;

/**
 * Why a sign-in failed, carried from the provider's answer to the sign-in page in a cookie: in the address, anybody could put
 * words of their own on that page.
 */
export function setNotice(response: Response, message: string, secure: boolean): void {
  const value = Buffer.from(message.slice(0, longest)).toString('base64url');
  response.append('set-cookie', serializeCookie(noticeCookie, value, { maxAge: lifetimeSeconds, secure }));
}

export function clearNotice(response: Response, secure: boolean): void {
  response.append('set-cookie', serializeCookie(noticeCookie, '', { maxAge: 0, secure }));
}

export function readNotice(request: Request, secure: boolean): string | undefined {
  const value = readCookie(request.headers.cookie, noticeCookie, secure);
  return value === undefined || value === ''
    ? undefined
    : Buffer.from(value, 'base64url').toString('utf8').slice(0, longest);
}
