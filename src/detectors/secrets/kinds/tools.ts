/** Tokens of tools for planning, writing, monitoring and measuring. */
import { joseHeader } from '../checks.js'
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }
const signed = { only: joseHeader, confidence: 0.9 }

export const tools: readonly Row[] = [
  ...issuer(
    'JSON Web Token',
    'https://www.rfc-editor.org/rfc/rfc7519',
    // `{"`, and `{` with white space after it.
    ['jwt', 'eyJ<8-2000 word>.ey<8-8000 word>.<0-1024 word>', signed],
    ['jwt', 'eyA<8-2000 word>.ey<8-8000 word>.<0-1024 word>', signed],
    ['jwt', 'ewo<8-2000 word>.ew<8-8000 word>.<0-1024 word>', signed]
  ),
  ...issuer(
    'Linear',
    'https://linear.app/developers',
    ['linear_key', 'lin_api_<32-128 base62>', digits],
    ['linear_token', 'lin_oauth_<64 hex>'],
    ['linear_webhook_secret', 'lin_wh_<40 base62>', digits]
  ),
  ...issuer(
    'Notion',
    'https://developers.notion.com',
    ['notion_token', 'ntn_<11 digit><35 base62>'],
    ['notion_token', 'ntn_<40-60 base62>', digits],
    ['notion_token', 'secret_<43 base62>', { only: mixed }]
  ),
  ...issuer(
    'Figma',
    'https://www.figma.com/developers/api',
    ['figma_token', 'figd_<40-200 word>', digits],
    ['figma_token', 'figp_<40-60 any64>', digits],
    ['figma_token', 'figo_<40-60 any64>', digits]
  ),
  ...issuer('Airtable', 'https://airtable.com/developers/web/api/authentication', [
    'airtable_token',
    'pat<14 base62>.<64 hex>'
  ]),
  ...issuer('ClickUp', 'https://developer.clickup.com', ['clickup_token', 'pk_<7-9 digit>_<32 upper36>']),
  ...issuer(
    'Postman',
    'https://learning.postman.com',
    ['postman_key', 'PMAK-<24 hex>-<34 hex>'],
    ['postman_collection_key', 'PMAT-<26 upper36>', digits]
  ),
  ...issuer('Typeform', 'https://www.typeform.com/developers', ['typeform_token', 'tfp_<40-64 any64>', digits]),
  ...issuer('Contentful', 'https://www.contentful.com/developers/docs', [
    'contentful_token',
    'CFPAT-<43 word>',
    digits
  ]),
  ...issuer('ReadMe', 'https://docs.readme.com', ['readme_key', 'rdme_<70 lower36>', digits]),
  ...issuer('Frame.io', 'https://developer.frame.io', ['frameio_token', 'fio-u-<64 any64>', digits]),
  ...issuer(
    'Adobe',
    'https://developer.adobe.com',
    ['adobe_client_secret', 'p8e-<32 word>', digits],
    ['adobe_client_secret', 'p8e-<28 word>', { only: mixed, confidence: 0.8 }]
  ),
  ...issuer(
    'Dropbox',
    'https://www.dropbox.com/developers',
    ['dropbox_token', 'sl.<130-1400 word>', digits],
    ['dropbox_token', 'sl.u.<130-1400 word>', digits]
  ),
  ...issuer(
    'Salesforce',
    'https://developer.salesforce.com/docs',
    ['salesforce_token', '00D<12 base62>!<96 dotted>'],
    ['salesforce_refresh_token', '5Aep861<60-120 any64>'],
    ['salesforce_consumer_key', '3MVG9<80-120 any64>', { only: mixed }]
  ),
  ...issuer(
    'Mapbox',
    'https://docs.mapbox.com/help/getting-started/access-tokens',
    ['mapbox_secret_token', 'sk.eyJ<60-200 word>.<20-30 word>'],
    ['mapbox_temporary_token', 'tk.eyJ<60-200 word>.<20-30 word>']
  ),
  ...issuer('MaxMind', 'https://dev.maxmind.com', ['maxmind_key', '<6 base62>_<29 base62>_mmk']),
  ...issuer('RapidAPI', 'https://docs.rapidapi.com', ['rapidapi_key', '<10 hex>msh<15 hex>p1<6 hex>jsn<12 hex>']),
  ...issuer(
    'Grafana',
    'https://grafana.com/docs/grafana-cloud/security-and-account-management/authentication-and-permissions',
    ['grafana_service_token', 'glsa_<32 base62>_<8 anyhex>'],
    ['grafana_cloud_token', 'glc_<32-400 padded>', digits],
    ['grafana_key', 'eyJrIjoi<60-400 padded>']
  ),
  ...issuer(
    'New Relic',
    'https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys',
    ['newrelic_key', 'NRAK-<27 upper36>', digits],
    ['newrelic_license_key', '<32 hex>FFFFNRAL'],
    ['newrelic_license_key', '<36 lower36>FFFFNRAL'],
    ['newrelic_insert_key', 'NRII-<25-32 word>', digits],
    ['newrelic_query_key', 'NRIQ-<25-32 word>', digits],
    ['newrelic_browser_key', 'NRJS-<19 hex>'],
    ['newrelic_mobile_token', 'AA<40 hex>-NRMA']
  ),
  ...issuer(
    'Sentry',
    'https://docs.sentry.io/account/auth-tokens',
    ['sentry_token', 'sntryu_<64 hex>'],
    ['sentry_organization_token', 'sntrys_eyJ<40-400 any64>'],
    ['sentry_token', 'sntrys_<40-400 any64>', digits]
  ),
  ...issuer(
    'Dynatrace',
    'https://docs.dynatrace.com',
    ['dynatrace_token', 'dt0c01.<24 upper36>.<64 upper36>'],
    ['dynatrace_token', 'dt0s01.<24 upper36>.<64 upper36>'],
    ['dynatrace_token', 'dt0s16.<24 upper36>.<64 upper36>']
  ),
  ...issuer(
    'Honeycomb',
    'https://docs.honeycomb.io',
    ['honeycomb_key', 'hcaik_<26 lower36><32 lower36>'],
    ['honeycomb_key', 'hcxik_<58 lower36>']
  ),
  ...issuer('Axiom', 'https://axiom.co/docs', ['axiom_token', `xaat-${uuid}`], ['axiom_token', `xapt-${uuid}`]),
  ...issuer('Rootly', 'https://docs.rootly.com', ['rootly_key', 'rootly_<64 hex>']),
  ...issuer('Checkly', 'https://www.checklyhq.com/docs', ['checkly_key', 'cu_<32 hex>']),
  ...issuer('PostHog', 'https://posthog.com/docs/api', ['posthog_key', 'phx_<43-48 base62>', digits]),
  ...issuer(
    'LaunchDarkly',
    'https://launchdarkly.com/docs',
    ['launchdarkly_key', `api-${uuid}`],
    ['launchdarkly_sdk_key', `sdk-${uuid}`],
    ['launchdarkly_mobile_key', `mob-${uuid}`]
  ),
  ...issuer('Wakatime', 'https://wakatime.com/developers', ['wakatime_key', `waka_${uuid}`]),
  ...issuer('JumpCloud', 'https://docs.jumpcloud.com', ['jumpcloud_key', 'jca_<36 base62>', digits]),
  ...issuer('Authress', 'https://authress.io', [
    'authress_key',
    'authress_<5-30 base62>.<4-6 base62>.acc-<10-32 word>.<30-120 any64>'
  ]),
  ...issuer(
    '42 School',
    'https://api.intra.42.fr',
    ['intra42_secret', 's-s4t2ud-<64 hex>'],
    ['intra42_secret', 's-s4t2af-<64 hex>']
  ),
  ...issuer('Adafruit IO', 'https://io.adafruit.com', ['adafruit_key', 'aio_<28 base62>', digits]),
  ...issuer('Ubidots', 'https://docs.ubidots.com', ['ubidots_token', 'BBFF-<30 base62>', digits]),
  ...issuer('Samsara', 'https://developers.samsara.com', ['samsara_token', 'samsara_api_<30-60 base62>', digits]),
  ...issuer('Webex', 'https://developer.webex.com', ['webex_token', `<64 base62>_<4 base62>_${uuid}`]),
  ...issuer(
    'BannerBear',
    'https://developers.bannerbear.com',
    ['bannerbear_key', 'bb_pr_<30 hex>'],
    ['bannerbear_key', 'bb_ma_<30 hex>']
  ),
  ...issuer('Nightfall', 'https://docs.nightfall.ai', ['nightfall_key', 'NF-<32 base62>', digits]),
  ...issuer('Tableau', 'https://help.tableau.com', ['tableau_token', '<22 base64>==:<32 base62>']),
  ...issuer('Segment', 'https://segment.com/docs', ['segment_token', 'sgp_<64 base62>', digits]),
  ...issuer('FullStory', 'https://developer.fullstory.com', ['fullstory_key', 'na1.<100 base64>', { only: mixed }])
]
