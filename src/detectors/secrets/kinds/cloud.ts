/** Tokens of clouds, hosts, networks and infrastructure as code. */
import { gatewayKey } from '../checks.js'
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }

export const cloud: readonly Row[] = [
  ...issuer(
    'Sluicegate',
    'docs/keys.md',
    ['sluicegate_key', 'slg_live_<8 base62>_<48 base62>', { check: gatewayKey, confidence: 0.99 }],
    ['sluicegate_key', 'slg_test_<8 base62>_<48 base62>', { check: gatewayKey, confidence: 0.99 }]
  ),
  ...issuer(
    'Amazon Web Services',
    'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html',
    ['aws_access_key', 'AKIA<16 upper36>'],
    ['aws_access_key', 'ASIA<16 upper36>'],
    ['aws_access_key', 'ABIA<16 upper36>'],
    ['aws_access_key', 'ACCA<16 upper36>'],
    ['aws_session_token', 'IQoJb3JpZ2lu<120-2000 padded>'],
    ['aws_session_token', 'FwoGZXIvYXdz<120-2000 padded>'],
    ['aws_bedrock_key', 'ABSK<109-269 padded>'],
    ['aws_bedrock_key', 'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t<40-2000 padded>'],
    ['aws_mws_token', `amzn.mws.${uuid}`]
  ),
  ...issuer(
    'Google Cloud',
    'https://cloud.google.com/docs/authentication/api-keys',
    ['google_api_key', 'AIza<35 word>'],
    ['google_oauth_secret', 'GOCSPX-<28 word>'],
    ['google_oauth_token', 'ya29.<20-1024 word>'],
    ['google_refresh_token', '1//0<40-120 word>', { only: mixed }],
    ['google_storage_key', 'GOOG1E<55 upper36>'],
    ['firebase_server_key', 'AAAA<7 word>:APA91b<134 word>']
  ),
  ...issuer('Alibaba Cloud', 'https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair', [
    'alibaba_access_key',
    'LTAI<17-21 base62>',
    digits
  ]),
  ...issuer('Tencent Cloud', 'https://www.tencentcloud.com/document/product/598', [
    'tencent_secret_id',
    'AKID<32 base62>',
    { only: mixed }
  ]),
  ...issuer(
    'Yandex Cloud',
    'https://yandex.cloud/en/docs/iam/concepts/authorization',
    ['yandex_api_key', 'AQVN<35-38 word>'],
    ['yandex_iam_token', 't1.<20-400 any64>.<86-88 any64>'],
    ['yandex_oauth_token', 'y0_<39-90 word>'],
    ['yandex_static_key', 'YC<38 word>', { only: mixed, confidence: 0.7 }]
  ),
  ...issuer(
    'DigitalOcean',
    'https://docs.digitalocean.com/reference/api',
    ['digitalocean_token', 'dop_v1_<64 hex>'],
    ['digitalocean_token', 'doo_v1_<64 hex>'],
    ['digitalocean_token', 'dor_v1_<64 hex>'],
    ['digitalocean_spaces_key', 'DO00<16 upper36>', { only: hasDigit, confidence: 0.8 }]
  ),
  ...issuer(
    'Heroku',
    'https://devcenter.heroku.com/articles/authentication',
    ['heroku_key', 'HRKU-AA<58 word>'],
    ['heroku_key', `HRKU-${uuid}`]
  ),
  ...issuer(
    'Fly.io',
    'https://fly.io/docs/security/tokens',
    ['fly_token', 'fo1_<43 word>'],
    ['fly_token', 'fm1r_<100-2000 padded>'],
    ['fly_token', 'fm1a_<100-2000 padded>'],
    ['fly_token', 'fm2_<100-2000 padded>']
  ),
  ...issuer(
    'Vercel',
    'https://vercel.com/docs/rest-api',
    ['vercel_token', 'vcp_<20-60 base62>'],
    ['vercel_token', 'vci_<20-60 base62>'],
    ['vercel_token', 'vca_<20-60 base62>'],
    ['vercel_token', 'vcr_<20-60 base62>'],
    ['vercel_token', 'vck_<20-60 base62>'],
    ['vercel_blob_token', 'vercel_blob_rw_<16 base62>_<30 base62>']
  ),
  ...issuer(
    'Netlify',
    'https://docs.netlify.com/api',
    ['netlify_token', 'nfp_<36 word>'],
    ['netlify_token', 'nfc_<36 word>']
  ),
  ...issuer('Render', 'https://render.com/docs/api', ['render_key', 'rnd_<28-64 base62>']),
  ...issuer(
    'Cloudflare',
    'https://developers.cloudflare.com/fundamentals/api',
    ['cloudflare_token', 'cfut_<40 base62><8 hex>'],
    ['cloudflare_token', 'cfat_<40 base62><8 hex>'],
    ['cloudflare_global_key', 'cfk_<40 base62><8 hex>'],
    ['cloudflare_origin_ca_key', 'v1.0-<24 hex>-<146 hex>']
  ),
  ...issuer('Akamai', 'https://techdocs.akamai.com/developer/docs', [
    'akamai_edgegrid_token',
    'akab-<16 lower36>-<16 lower36>'
  ]),
  ...issuer(
    'Supabase',
    'https://supabase.com/docs/guides/api/api-keys',
    ['supabase_token', 'sbp_<40 hex>'],
    ['supabase_token', 'sbp_v0_<40 hex>'],
    ['supabase_secret_key', 'sb_secret_<20-64 word>']
  ),
  ...issuer(
    'PlanetScale',
    'https://planetscale.com/docs',
    ['planetscale_token', 'pscale_tkn_<32-64 any64>'],
    ['planetscale_oauth_token', 'pscale_oauth_<32-64 any64>'],
    ['planetscale_password', 'pscale_pw_<32-64 any64>']
  ),
  ...issuer('Neon', 'https://neon.tech/docs/manage/api-keys', ['neon_key', 'napi_<60-70 lower36>']),
  ...issuer('MongoDB Atlas', 'https://www.mongodb.com/docs/atlas/api', ['mongodb_atlas_secret', 'mdb_sa_sk_<40 word>']),
  ...issuer('Aiven', 'https://aiven.io/docs', ['aiven_password', 'AVNS_<19 word>']),
  ...issuer('ClickHouse Cloud', 'https://clickhouse.com/docs/cloud/manage/openapi', [
    'clickhouse_secret',
    '4b1d<38 base62>',
    { only: mixed }
  ]),
  ...issuer(
    'Databricks',
    'https://docs.databricks.com/dev-tools/auth/pat.html',
    ['databricks_token', 'dapi<32 hex>'],
    ['databricks_token', 'dapi<32 hex>-<1 digit>'],
    ['databricks_oauth_secret', 'dose<32 hex>']
  ),
  ...issuer('Confluent Cloud', 'https://docs.confluent.io/cloud/current/access-management', [
    'confluent_secret',
    'cflt<60 base64>',
    { only: mixed }
  ]),
  ...issuer(
    'HashiCorp',
    'https://developer.hashicorp.com/vault/docs/concepts/tokens',
    ['vault_token', 'hvs.<24-300 word>'],
    ['vault_batch_token', 'hvb.<24-300 word>'],
    ['vault_recovery_token', 'hvr.<24-300 word>'],
    ['terraform_cloud_token', '<14 base62>.atlasv1.<60-70 word>']
  ),
  ...issuer('Pulumi', 'https://www.pulumi.com/docs/pulumi-cloud/access-management', ['pulumi_token', 'pul-<40 hex>']),
  ...issuer(
    'Doppler',
    'https://docs.doppler.com/reference/auth-token-formats',
    ['doppler_token', 'dp.pt.<40-44 base62>'],
    ['doppler_token', 'dp.ct.<40-44 base62>'],
    ['doppler_service_token', 'dp.st.<40-44 base62>'],
    ['doppler_service_token', 'dp.st.<2-35 word>.<40-44 base62>'],
    ['doppler_service_token', 'dp.sa.<40-44 base62>'],
    ['doppler_scim_token', 'dp.scim.<40-44 base62>'],
    ['doppler_audit_token', 'dp.audit.<40-44 base62>']
  ),
  ...issuer('Infracost', 'https://www.infracost.io/docs', ['infracost_key', 'ico-<32 base62>', digits]),
  ...issuer('Scalingo', 'https://developers.scalingo.com', ['scalingo_token', 'tk-us-<48 word>']),
  ...issuer(
    'Tailscale',
    'https://tailscale.com/kb/1252/key-prefixes',
    ['tailscale_key', 'tskey-<3-12 lower>-<8-40 base62>-<16-64 base62>'],
    ['tailscale_key', 'tskey-<16-64 base62>']
  ),
  ...issuer(
    'Deno Deploy',
    'https://docs.deno.com/deploy',
    ['deno_deploy_token', 'ddp_<36 base62>', digits],
    ['deno_deploy_token', 'ddw_<36 base62>', digits]
  ),
  ...issuer('OpenShift', 'https://docs.openshift.com', ['openshift_token', 'sha256~<43 word>']),
  ...issuer(
    '1Password',
    'https://developer.1password.com/docs/service-accounts',
    ['onepassword_token', 'ops_eyJ<200-1600 padded>'],
    ['onepassword_secret_key', 'A3-<6 upper36>-<6 upper36>-<5 upper36>-<5 upper36>-<5 upper36>-<5 upper36>', digits],
    ['onepassword_secret_key', 'A3-<6 upper36>-<11 upper36>-<5 upper36>-<5 upper36>-<5 upper36>', digits]
  ),
  ...issuer('Age', 'https://age-encryption.org/v1', ['age_secret_key', 'AGE-SECRET-KEY-1<58 upper36>', digits]),
  ...issuer('Defined Networking', 'https://docs.defined.net', [
    'defined_networking_key',
    'dnkey-<26 any64>-<52 any64>'
  ]),
  ...issuer('Salad Cloud', 'https://docs.salad.com', [
    'salad_cloud_key',
    'salad_cloud_<1-7 base62>_<20-235 base62>',
    digits
  ]),
  ...issuer('Temporal Cloud', 'https://docs.temporal.io/cloud/api-keys', [
    'temporal_cloud_key',
    'tmprl_<64-400 word>',
    digits
  ])
]
