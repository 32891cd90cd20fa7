import { connect, type Socket } from 'node:net';
import { ResponseParser } from './response-parser.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The largest body in bytes that is sent in one write with its head, from a buffer of the connection. */
const oneWriteBytes = 131_072;
const leadRoom = 4_096;

/**
 * One read buffer for all connections. Node fills it and calls back before it reads from the next socket, and no caller keeps the bytes.
 * Its size lets a body of 8 MiB take few reads.
 */
const readBuffer = Buffer.allocUnsafeSlow(1_048_576);

/** A keep-alive connection with at most one pending request. */
export class Connection {
  readonly parser = new ResponseParser();
  /** Gets a call when an answer is complete. */
  onAnswer: () => void = () => {};
  /** Gets one call when the connection fails while an answer is pending. */
  onFailure: (error: Error) => void = () => {};
  readonly #socket: Socket;
  #awaiting = false;
  #room: Buffer | undefined;
  #roomTail: Buffer | undefined;

  private constructor(address: Address, opened: () => void) {
    this.#socket = connect(
      { ...address, noDelay: true, onread: { buffer: readBuffer, callback: (length) => this.#read(length) } },
      opened,
    );
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#closed());
  }

  static open(address: Address): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(address, () => {
        connection.onFailure = () => {};
        resolve(connection);
      });
      connection.#awaiting = true;
      connection.onFailure = reject;
    });
  }

  /** Sends `bytes` from `start` to `end`, then `tail`. */
  send(bytes: Buffer, start: number, end: number, tail: Buffer, bodiless: boolean, keepHead = false): void {
    this.#awaiting = true;
    this.parser.expect(bodiless, keepHead);
    if (tail.length === 0) this.#socket.write(bytes.subarray(start, end));
    else if (tail.length > oneWriteBytes || end - start > leadRoom) {
      this.#socket.cork();
      this.#socket.write(bytes.subarray(start, end));
      this.#socket.write(tail);
      this.#socket.uncork();
    } else this.#socket.write(this.#join(bytes, start, end, tail));
  }

  close(): void {
    this.#awaiting = false;
    this.#socket.destroy();
  }

  /** The tail keeps its place between requests, and the lead is copied in front of it. */
  #join(bytes: Buffer, start: number, end: number, tail: Buffer): Buffer {
    let room = this.#room;
    if (room === undefined || room.length < leadRoom + tail.length) {
      room = Buffer.allocUnsafeSlow(leadRoom + tail.length);
      this.#room = room;
      this.#roomTail = undefined;
    }
    if (this.#roomTail !== tail) {
      tail.copy(room, leadRoom);
      this.#roomTail = tail;
    }
    const from = leadRoom - (end - start);
    bytes.copy(room, from, start, end);
    return room.subarray(from, leadRoom + tail.length);
  }

  #read(length: number): boolean {
    let complete: boolean;
    try {
      complete = this.parser.feed(readBuffer, length);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      this.#socket.destroy();
      return false;
    }
    if (complete) this.#answered();
    return true;
  }

  #answered(): void {
    this.#awaiting = false;
    this.onAnswer();
  }

  #closed(): void {
    if (!this.#awaiting) return;
    if (this.parser.end()) {
      this.parser.closes = true;
      this.#answered();
    } else this.#fail(new Error('the server closed the connection before it answered'));
  }

  #fail(error: Error): void {
    if (!this.#awaiting) return;
    this.#awaiting = false;
    this.onFailure(error);
  }
}
