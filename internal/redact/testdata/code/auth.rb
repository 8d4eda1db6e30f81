class Login
  attr_accessor :password, :token
  has_secure_password
  def initialize(password:, token: nil)
    @password = password
    @token = token || SecureRandom.hex(20)
    self.secret = Rails.application.credentials.secret2
  end
  validates :password, presence: true, length: { minimum: 8 }
  post '/login', params: { password: params[:password], token: user.token2 }
  token = request.headers['Authorization'].split(' ').last
end
