import { Transform, type TransformCallback } from 'node:stream';

/** A socket write each. */
const JOIN_BYTES = 65_536;

/**
 * Joins the many small pieces that a message is made of (a header, a line, a boundary): each would be a system
 * call on the connection, and those are most of what sending costs.
 */
export class JoinedChunks extends Transform {
  private pieces: Buffer[] = [];
  private length = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.pieces.push(chunk);
    this.length += chunk.length;
    if (this.length >= JOIN_BYTES) this.flushPieces();
    done();
  }

  override _flush(done: TransformCallback): void {
    this.flushPieces();
    done();
  }

  private flushPieces(): void {
    if (this.length > 0)
      this.push(this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces, this.length));
    this.pieces = [];
    this.length = 0;
  }
}
