import { useEffect, useState } from 'react';
import { request } from '../api/request.ts';
import type { ToolServer } from '../api/types.gen.ts';
import { readAddress } from '../messages/input.ts';
import { input as words } from '../text/en/input.ts';

/** The name and the host of the tool server that asks. Members may not read it, and see the name of the tool. */
export const Server = ({ id }: { id: string }) => {
  const [server, setServer] = useState<ToolServer | null>(null);
  useEffect(() => {
    const path = `/api/v2/tool-servers/${encodeURIComponent(id)}`;
    // If this fails, the page still works: it does not show which server asks.
    request<ToolServer>('GET', path).then(
      ({ body }) => setServer(body),
      () => {},
    );
  }, [id]);
  if (!server) return null;
  const host = readAddress(server.url)?.host ?? server.command ?? '';
  return <p className="hint">{words.from(server.name, host)}</p>;
};
