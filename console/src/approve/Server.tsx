import { useEffect, useState } from 'react';
import { request } from '../api/request.ts';
import type { ToolServerHost } from '../api/types.gen.ts';
import { input as words } from '../text/en/input.ts';

/** The name and the host of the tool server that asks: who gets the answer. */
export const Server = ({ id }: { id: string }) => {
  const [server, setServer] = useState<ToolServerHost | null>(null);
  useEffect(() => {
    const path = `/app/api/tool-servers/${encodeURIComponent(id)}/host`;
    // If this fails, the page still works: it does not show which server asks.
    request<ToolServerHost>('GET', path).then(
      ({ body }) => setServer(body),
      () => {},
    );
  }, [id]);
  if (!server) return null;
  const { name, host } = server;
  return <p className="hint">{host === null ? words.fromProcess(name) : words.from(name, host)}</p>;
};
