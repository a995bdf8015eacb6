import { pages } from '../../text/en/pages.ts';
import { Page } from '../../ui/index.ts';

export const LlmConfigurationsPage = () => <Page title={pages.llmConfigurations} />;
