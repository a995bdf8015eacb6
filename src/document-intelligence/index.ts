import type { Feature, Services } from '../feature.ts';
import { type FileBytes, fileUpload, type OwnerKind } from '../files/index.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { type AgentDocuments, agentDocuments } from './agents.ts';
import { Configurations } from './configuration/configuration.ts';
import { configurationRoutes } from './configuration/routes.ts';
import { Extractions } from './extractions/extractions.ts';
import { uploadFields } from './extractions/request.ts';
import { extractionRoutes } from './extractions/routes.ts';
import { deleteOldExtractions } from './extractions/store.ts';

export type { AgentDocuments } from './agents.ts';
export { form as documentReaderForm } from './configuration/settings.ts';

interface Needs {
  sandbox: Sandbox;
  bytes: FileBytes;
  /** Conversations and Work Items have files. */
  owners: readonly OwnerKind[];
  llms: Pick<LlmConfigurations, 'ask'>;
  telemetry: {
    /** The same after a restart. Known once the services are open. */
    readonly replicaId: string;
  };
}

export interface DocumentIntelligence extends Feature, Pick<Configurations, 'readBy' | 'check' | 'put'> {
  forAgents: AgentDocuments;
}

/** Document intelligence: how documents are read, and the extraction of data from them. */
export const createDocumentIntelligence = (services: Services, needs: Needs): DocumentIntelligence => {
  const { db, vault, egress, log, settings, config } = services;
  const { sandbox, bytes, owners, telemetry } = needs;
  const { ask: askModel } = needs.llms;
  const configurations = new Configurations({ db, vault, egress, sandbox });
  const extractions = new Extractions({ db, vault, log, replica: () => telemetry.replicaId });
  const upload = fileUpload(config.dataDir, settings, uploadFields);
  const readers = { sandbox, egress };
  return {
    readBy: (executor) => configurations.readBy(executor),
    check: (body, stored) => configurations.check(body, stored),
    put: (...given) => configurations.put(...given),
    forAgents: agentDocuments({ bytes, settings, configurations, readers, askModel, folder: upload.folder }),
    tag: { name: 'Document intelligence', description: 'Data from documents, with where each value stands.' },
    routes: [
      ...configurationRoutes(configurations),
      ...extractionRoutes({
        db,
        settings,
        bytes,
        owners,
        configurations,
        extractions,
        upload,
        readers,
        askModel,
      }),
    ],
    secrets: [configurations.sealed.column, extractions.sealed, extractions.sealedSummary],
    retention: [(tx, { EXTRACTION_RETENTION_HOURS: hours }, limit) => deleteOldExtractions(tx, hours, limit)],
    start: () => extractions.start(),
    loops: [
      {
        start: () => void extractions.loop.start(),
        stop: () => extractions.stop(),
        pass: () => extractions.loop.pass(),
      },
    ],
  };
};
