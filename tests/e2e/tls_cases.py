"""What the tests with TLS share: clients that speak it, and certificates."""
import datetime
import ssl
import warnings

import harness

harness.in_environment()

from cryptography import x509  # noqa: E402
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402


class Authority:
    """Signs certificates, and writes them and their keys into files of the folder."""
    def __init__(self, name):
        self.folder = harness.scratch() / name
        self.folder.mkdir()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.certificate = self._certificate(self.name, self.key.public_key(), days=(-1, 100), ca=True)
        self.path = self.write("ca.pem", self._pem(self.certificate))

    def _certificate(self, subject, public_key, days, ca=False):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(public_key)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now + datetime.timedelta(days[0]))
        builder = builder.not_valid_after(now + datetime.timedelta(days[1])).add_extension(x509.BasicConstraints(ca, None), critical=True)
        names = [x509.DNSName("localhost"), x509.DNSName("test")]
        return builder.add_extension(x509.SubjectAlternativeName(names), critical=False).sign(self.key, hashes.SHA256())

    @staticmethod
    def _pem(certificate):
        return certificate.public_bytes(serialization.Encoding.PEM)

    def write(self, name, data):
        path = self.folder / name
        new = path.with_suffix(".new")
        new.write_bytes(data)
        new.rename(path)
        return path

    def sign(self, name, days=(-1, 10), key=None, password=None):
        """`name`.pem and `name`.key; the certificate's serial number."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        made = self._certificate(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), key.public_key(), days)
        self.write(f"{name}.pem", self._pem(made))
        secret = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        self.write(f"{name}.key", key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
        return made.serial_number

    def files(self, name):
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def flags(self, name="server"):
        cert, key = self.files(name)
        return ["--tls-cert", cert, "--tls-key", key]

    def client(self, show=None, alpn=None, oldest=None, newest=None):
        """A client's context, which trusts this authority and shows that certificate."""
        context = ssl.create_default_context(cafile=self.path)
        if show:
            context.load_cert_chain(*show)
        if alpn:
            context.set_alpn_protocols(alpn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of versions that are tried because they are old
            if oldest:
                context.set_ciphers("ALL:@SECLEVEL=0")
                context.minimum_version = oldest
            if newest:
                context.maximum_version = newest
        return context
