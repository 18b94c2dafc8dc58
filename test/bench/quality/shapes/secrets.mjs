// Where secrets stand in other people's sets: files of code and configuration, shells, headers, logs, chats; and what only
// looks like one. `{}` is the value; the name of a template's list is the shape that results are printed by.

/** What stands around a token that its issuer marks. */
export const tokenPlaces = {
  shell: [
    'export SERVICE_TOKEN={}',
    '$ curl -H "Authorization: Bearer {}" https://api.internal.example/v2/things',
    'docker run -e KEY={} -p 8080:80 worker:latest',
    'git clone https://oauth2:{}@git.example.org/group/repo.git',
    'echo {} | base64 -d'
  ],
  code: [
    'const client = new Client({ auth: "{}" })',
    "headers = {'X-Token': '{}', 'Accept': 'application/json'}",
    'let token = String::from("{}");',
    'Client c = Client.builder().credential("{}").build();',
    'requests.get(url, params=dict(q="x", k="{}"))',
    '  - uses: deploy/action@v3\n    with:\n      credential: {}'
  ],
  chat: [
    'hey, can you check why this does not work? {}',
    'I pasted the wrong thing, here it is again: `{}`',
    'Bonjour, voici mon jeton : {} merci de le tester',
    'the bot stopped after I rotated it to {}. Any idea?',
    '[2024-05-01 10:12] ops: use {} until Friday'
  ],
  log: [
    'time="2024-06-02T10:11:12Z" level=error msg="401" auth="{}" path=/v1/users',
    '2024-01-03 12:00:01,113 DEBUG [client] > X-Auth: {}',
    'POST /hook?t={} HTTP/1.1 200 532 "-" "okhttp/4.9"',
    '{"level":"warn","msg":"request failed","req":{"headers":{"x-token":"{}"}}}'
  ]
}

/** What stands around a random value or a password: only its name tells. */
export const namedPlaces = {
  env: [
    'DB_PASSWORD={}',
    'export JWT_SECRET="{}"',
    'SMTP_PASS={}\nSMTP_HOST=mail.example.org',
    'set ADMIN_PASSWORD={}',
    'APP_SECRET_KEY={}',
    "REDIS_PASSWORD='{}'",
    '$env:ClientSecret = "{}"',
    'ENV POSTGRES_PASSWORD {}',
    'spring.datasource.password={}'
  ],
  code: [
    'password = "{}"',
    "const apiKey = '{}';",
    'var dbPassword string = "{}"',
    'private static final String SECRET_KEY = "{}";',
    "$config['db']['password'] = '{}';",
    'conn = psycopg2.connect(host="db", user="app", password="{}")',
    'define("AUTH_KEY", "{}");',
    'client.setPassword("{}");',
    'auth := smtp.PlainAuth("", user, "{}", host) // password',
    'os.environ["API_TOKEN"] = "{}"',
    'let encryption_key: &str = "{}";',
    'new Credentials { UserName = "svc", Password = "{}" }'
  ],
  config: [
    'database:\n  user: app\n  password: {}\n  port: 5432',
    '{"user": "svc", "client_secret": "{}"}',
    '<add key="ApiKey" value="{}" />',
    '<password>{}</password>',
    '- name: DB_PASSWORD\n  value: "{}"',
    '[mail]\nhost = smtp.example.org\npassphrase = {}',
    'variable "token" {\n  default = "{}"\n}\naccess_token = "{}"',
    'Server=tcp:sql.example.org,1433;Database=app;User ID=svc;Password={};Encrypt=True;',
    'machine api.example.org login deploy password {}',
    'db.example.org:5432:app:deploy:{}',
    'stringData:\n  api-key: {}',
    'jdbc:mysql://db.example.org:3306/app?user=root&password={}',
    '"auth": {\n  "secret" : "{}"\n}',
    'ansible_become_pass: {}'
  ],
  shell: [
    'mysql -h db -uroot -p{} app < dump.sql',
    'curl -u deploy:{} https://repo.example.org/artifact.jar -O',
    'sshpass -p {} ssh root@10.1.2.3',
    './deploy.sh --user ci --password {} --force',
    'PGPASSWORD={} psql -h db -U app',
    'redis-cli -h cache -a {} ping',
    'vault login -method=userpass username=dev password={}',
    'az login --service-principal -u app --tenant t --client-secret={}',
    'wget --http-user=a --http-password={} https://files.example.org/x.zip'
  ],
  chat: [
    'The password for the staging server is {}, please do not share it.',
    'my wifi password: {}',
    'login: jsmith password: {}',
    'Das Passwort lautet {} und gilt bis Montag.',
    'mi contraseña es {}, ¿puedes cambiarla?',
    'Le mot de passe est {} pour le compte partagé',
    'Username: admin\nPassword: {}\nURL: https://panel.example.org',
    'temp pwd is {} (change it)',
    'use {} as the password for the zip'
  ],
  url: [
    'https://api.example.org/v1/export?format=csv&api_key={}',
    'postgres://app:{}@db.example.org:5432/prod',
    'redis://:{}@cache.example.org:6379/0',
    'https://files.example.org/get?id=7&access_token={}#top',
    'amqp://svc:{}@mq.example.org:5672/vhost'
  ],
  log: [
    'INFO connecting with user=svc password={} host=db',
    'DEBUG params: {:client_secret=>"{}", :grant_type=>"client_credentials"}',
    'WARN auth failed for admin, secret={}',
    'X-Api-Key: {}'
  ]
}

/** What is no secret. `{hex}` and the like are filled in. */
export const harmless = {
  placeholder: [
    'API_KEY=your-api-key-here',
    'password: <your password>',
    'export TOKEN="xxxxxxxxxxxxxxxxxxxxxxxx"',
    'DB_PASSWORD=changeme',
    `secret: \${{ secrets.DEPLOY_KEY }}`,
    `api_key: "\${API_KEY}"`,
    'password=$DB_PASS',
    'PASSWORD={{ vault_password }}',
    'access_token=<ACCESS_TOKEN>',
    'aws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'password = "********"',
    'client_secret: REPLACE_ME_123',
    'token: %TOKEN_1%',
    'postgres://user:password@localhost:5432/db',
    `mysql://root:\${MYSQL_ROOT_PASSWORD}@db/app`,
    'Authorization: Bearer <token>',
    'sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
  ],
  reference: [
    'password = os.getenv("DB_PASSWORD_2")',
    'const token = await getToken(user.id2)',
    'apiKey: process.env.STRIPE_KEY_V2',
    'secret = SecretManager.fetch("prod/db1")',
    'token := r.Header.Get("X-Token1")',
    'password: req.body.password1',
    'private String password2;',
    'this.secret = config.auth.secretV2',
    'key = hashlib.sha256(password1.encode()).hexdigest()',
    'accessToken = response.data.access_token2',
    'if (token === undefined || secret == null) return 401',
    "api_key = settings.get('API_KEY_V1')",
    'PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]',
    'token_type: bearer_v2',
    'auth: oauth2-client',
    'key: "sha256-rsa"',
    'secret_name: projects/p1/secrets/db2'
  ],
  digest: [
    'commit {hex40}',
    'sha256:{hex64}',
    'integrity: sha512-{base86}==',
    'ETag: W/"{hex32}"',
    'checksum = "{hex64}"',
    `password_hash: $2b$12\${base53}`,
    'md5sum {hex32}  file.tar.gz',
    'image: app@sha256:{hex64}',
    'fingerprint SHA256:{base43}',
    'go.sum h1:{base43}=',
    'key fingerprint = {hex40}',
    'index {hex7}..{hex7} 100644',
    'signature: "{hex64}"',
    'content-md5: {base22}=='
  ],
  identifier: [
    'request_id={uuid}',
    'userId: "{hex24}"',
    'trace_id={hex32} span_id={hex16}',
    'session {uuid} started',
    'arn:aws:iam::123456789012:role/deploy-{hex8}',
    'data:image/png;base64,{base200}',
    'tx 0x{hex64}',
    'token_id: {uuid}',
    'key: {uuid}',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base43} me@laptop',
    '-----BEGIN CERTIFICATE-----\n{base64line}\n{base64line}\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\n{base64line}\n{base64line}\n-----END PUBLIC KEY-----',
    'pk_live_{base24}',
    'https://cdn.example.org/app.{hex20}.js?v=3',
    'publicKey: "{base43}="',
    'Set the cookie _ga=GA1.2.{digits9}.{digits10}'
  ],
  talk: [
    'How do I reset my password if I have 2FA on?',
    'The token count was 2879 of 8192, please shorten it.',
    'Passwords must have at least 12 characters, 1 digit and 1 sign.',
    'the secret: 10 minutes of practice a day',
    'Primary key: id (int), foreign key: user_id',
    'Press any key: F10 or Ctrl+C',
    'Das Passwort muss mindestens 8 Zeichen lang sein.',
    'key: value1, other: value2',
    'basic: 19.99, pro: 49.99',
    'The answer key: 1b 2c 3a 4d',
    'auth: none, tls: 1.3',
    'password reset link was sent at 10:32 to the user'
  ]
}
