import type pg from 'pg';

/**
 * Asks the server whether it is there, without a statement: a Sync of the protocol, which it answers without a transaction.
 * Through whatever is between, the answer comes from the server itself, as that of `select 1` does.
 */
class Ping implements pg.Submittable {
  /** Set by the driver, which calls it after its `query_timeout` too. */
  callback: (error: Error | null) => void;

  constructor(callback: (error: Error | null) => void) {
    this.callback = callback;
  }

  submit(connection: pg.Connection): void {
    connection.sync();
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/** Resolves when the server answers on the connection `client`. Rejects if it is lost, or after its `query_timeout`. */
export const ping = (client: pg.Client): Promise<void> =>
  new Promise((resolve, reject) => {
    client.query(new Ping((error) => (error ? reject(error) : resolve())));
  });
